import { hash } from 'node:crypto';
import type { KeyGrant } from '@gateway/contracts/auth';
import { isRefusal, type Refusal } from '@gateway/errors';
import {
  type CallerPolicy,
  checkChatBody,
  type CheckedChatBody,
  type RefusedChatBody,
  type ChatBodyRules,
  countChatRequest,
  endpointNamed,
  type FormatName,
  holdingAllInput,
  type ListedModel,
  lowerToMaxCost,
  measureJson,
  type PageCounter,
  type SpendLimits,
  type TokenCounter,
  type ValidatedChatRequest,
} from '@gateway/public-api';
import { type BodyThreads, type CheckedBody, limits, type ModelCatalogue } from '../../core';
import type { Exchange } from '../http/exchange';
import { readIdempotencyScope, readLastEventId } from './idempotent-request';
import { readSpendLimits } from './read-spend-limits';

export interface CheckBodyPorts {
  readonly catalogue: ModelCatalogue;
  readonly tokenCounter: TokenCounter;
  readonly pageCounter: PageCounter;
  readonly bodyThreads: BodyThreads;
  readonly dropsHostedTools: boolean;
}

const { maxInlineBytes, maxInlineValues } = limits.bodies;

/**
 * All checks of a body, in the public order, and its idempotency scope. Bodies
 * that would block the event loop are checked in a thread, with the same result.
 * Tokens are counted by the tokenizer of the process.
 *
 * @param chunks - may be transferred to a thread; not readable afterwards.
 */
export async function checkBody(
  ports: CheckBodyPorts,
  exchange: Exchange,
  grant: KeyGrant,
  chunks: readonly Uint8Array[],
  format: FormatName,
): Promise<CheckedBody | Refusal> {
  const scope = readIdempotencyScope(exchange, grant.keyId, endpointNamed(exchange.route)?.path ?? '');
  const uncounted = await checkUncounted(ports, exchange, grant, chunks, {
    format,
    wantsSha256: typeof scope === 'string',
  });
  if (isRefusal(uncounted)) return uncounted;
  const { checked, policy, findModel } = uncounted;

  const chat = await countChatRequest(checked.request, {
    policy,
    findModel,
    format,
    tokenCounter: ports.tokenCounter,
    pageCounter: ports.pageCounter,
    caller: { owner: grant.organizationId, signal: exchange.signal },
  });
  if (isRefusal(chat)) return chat;
  if (isRefusal(scope)) return scope;
  const lastEventId = readLastEventId(exchange, chat.stream && scope !== undefined);
  if (isRefusal(lastEventId)) return lastEventId;
  const spendLimits = readSpendLimits(exchange);
  if (isRefusal(spendLimits)) return spendLimits;
  const { bodySha256 } = checked;
  return {
    chat: withinSpendLimits(chat, spendLimits),
    spendLimits,
    idempotent: scope && bodySha256 ? { scope, bodySha256: Buffer.from(bodySha256), lastEventId } : undefined,
  };
}

/** A body that passed all checks but that of its token count, and what they were made against. */
export interface UncountedBody {
  readonly checked: CheckedChatBody;
  readonly policy: CallerPolicy;
  readonly findModel: (id: string) => ListedModel | undefined;
}

/**
 * All checks of a body that need no token count.
 *
 * @param chunks - may be transferred to a thread; not readable afterwards.
 */
export async function checkUncounted(
  ports: CheckBodyPorts,
  exchange: Exchange,
  grant: KeyGrant,
  chunks: readonly Uint8Array[],
  { format, wantsSha256 }: { readonly format: FormatName; readonly wantsSha256: boolean },
): Promise<UncountedBody | Refusal> {
  const models = ports.catalogue.current();
  const policy: CallerPolicy = {
    allowedModels: grant.allowedModels,
    targetRules: grant.targetRules,
    maxOutputTokensCap: grant.organizationLimits?.maxOutputTokens,
    multipleCompletions: grant.organizationLimits?.multipleCompletions ?? false,
    jsonStreaming: grant.jsonStreaming,
    usageTags: grant.usageTags,
  };
  const { dropsHostedTools } = ports;
  const rules: ChatBodyRules = { policy, models, wantsSha256, format, dropsHostedTools };
  const checked = checkInline(chunks, rules) ?? (await checkInThread(ports, exchange, grant, chunks, rules));
  if (isRefusal(checked)) {
    const { requestedModel } = checked;
    if (requestedModel !== undefined) {
      exchange.report.requestedModel = requestedModel;
      if (models?.has(requestedModel)) exchange.report.modelId = requestedModel;
    }
    return checked;
  }
  exchange.report.modelId = checked.request.modelId;
  return { checked, policy, findModel: (id) => models?.get(id) };
}

function withinSpendLimits(
  chat: ValidatedChatRequest,
  { maxCostNanoUsd, run }: SpendLimits,
): ValidatedChatRequest {
  if (maxCostNanoUsd === undefined) return run === undefined ? chat : holdingAllInput(chat);
  return lowerToMaxCost(holdingAllInput(chat), maxCostNanoUsd);
}

/** @returns undefined for a body that would block the event loop. */
function checkInline(
  chunks: readonly Uint8Array[],
  rules: ChatBodyRules,
): CheckedChatBody | RefusedChatBody | undefined {
  if (chunks.reduce((sum, { length }) => sum + length, 0) > maxInlineBytes) return undefined;
  const [first] = chunks;
  const bytes = first && chunks.length === 1 ? first : Buffer.concat(chunks);
  const measure = measureJson(bytes, maxInlineValues);
  if (measure.values > maxInlineValues) return undefined;
  return checkChatBody(bytes, rules, sha256, measure);
}

function checkInThread(
  { bodyThreads }: CheckBodyPorts,
  exchange: Exchange,
  { organizationId }: KeyGrant,
  chunks: readonly Uint8Array[],
  rules: ChatBodyRules,
): Promise<CheckedChatBody | RefusedChatBody> {
  return bodyThreads.check({ owner: organizationId, chunks, rules, signal: exchange.signal });
}

function sha256(text: string): Uint8Array {
  return hash('sha256', text, 'buffer');
}
