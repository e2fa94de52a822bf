import { apiTypeOf, LAST_UNIX_MS, nanoUsd, NO_USAGE, storableText, type UnixMs } from '@gateway/base';
import { usageSourceOf } from '@gateway/contracts/common';
import {
  GenerationSettled,
  type GenerationFinished,
  type SettledWindow as WindowMessage,
} from '@gateway/contracts/events';
import {
  hoursToCompare,
  type SettledWindow,
  type AnnouncedHour,
} from '../../core/reconciliation/settled-window';
import type { ProviderAttempt, StoredGeneration } from '../../core/settled-generation';

/** A settled generation, or the sums of earlier settlements. */
export type DecodedEvent =
  | { readonly kind: 'generation'; readonly generation: StoredGeneration }
  | { readonly kind: 'window'; readonly announced: readonly AnnouncedHour[] };

/**
 * Decodes a `generation.settled` event.
 *
 * @throws Error for an invalid message; a retry fails as well.
 */
export function decodeEvent(payload: Uint8Array): DecodedEvent {
  const settled = GenerationSettled.decode(payload);
  const { finished, window } = settled;
  if (window) return { kind: 'window', announced: hoursToCompare(windowOf(window)) };
  if (finished) return { kind: 'generation', generation: generationOf(settled, finished) };
  throw new Error('the event has no generation');
}

function windowOf({ organizationId, fromUnixMs, untilUnixMs, hours }: WindowMessage): SettledWindow {
  return {
    organizationId: required(organizationId, 'organization_id'),
    from: timeOf(fromUnixMs, 'from_unix_ms'),
    until: timeOf(untilUnixMs, 'until_unix_ms'),
    hours: hours.map(({ hourUnixMs, generations, costNanoUsd, chargedNanoUsd }) => ({
      startsAt: timeOf(hourUnixMs, 'hour_unix_ms'),
      generations,
      costNanoUsd: nanoUsd(costNanoUsd),
      chargedNanoUsd: nanoUsd(chargedNanoUsd),
    })),
  };
}

/** Texts that a client or provider chose lose what PostgreSQL cannot store. */
function generationOf(settled: GenerationSettled, finished: GenerationFinished): StoredGeneration {
  return {
    ...finished,
    id: required(finished.generationId, 'generation_id'),
    organizationId: required(finished.organizationId, 'organization_id'),
    keyId: storableText(finished.keyId),
    requestId: storableText(finished.requestId),
    modelId: required(finished.modelId, 'model_id'),
    provider: storableText(finished.provider),
    providerModel: storableText(finished.providerModel),
    createdAt: timeOf(finished.createdUnixMs, 'created_unix_ms'),
    settledAt: timeOf(settled.settledUnixMs, 'settled_unix_ms'),
    finishReason: storableText(finished.finishReason),
    usage: finished.usage ?? NO_USAGE,
    usageSource: usageSourceOf(finished.usageSource),
    costNanoUsd: nanoUsd(settled.costNanoUsd),
    chargedNanoUsd: nanoUsd(settled.chargedNanoUsd),
    apiType: apiTypeOf(finished.apiType),
    externalUser: storableText(finished.externalUser),
    tags: finished.tags.map(({ name, value }) => ({ name: storableText(name), value: storableText(value) })),
    attempts: finished.attempts.length > 0 ? finished.attempts.map(attemptOf) : undefined,
    prices: settled.prices ?? finished.prices,
    runId: storableText(finished.runId),
    projectId: storableText(finished.projectId ?? ''),
    providerCostNanoUsd:
      finished.providerCostNanoUsd === undefined ? undefined : nanoUsd(finished.providerCostNanoUsd),
  };
}

function attemptOf(attempt: ProviderAttempt): ProviderAttempt {
  const { provider, providerModel, reason, outcome, durationMs, error } = attempt;
  return {
    provider: storableText(provider),
    providerModel: storableText(providerModel),
    reason: storableText(reason),
    outcome: storableText(outcome),
    durationMs,
    error: error && {
      httpStatus: error.httpStatus,
      code: storableText(error.code),
      type: storableText(error.type),
      text: storableText(error.text),
    },
  };
}

export function required(text: string, field: string): string {
  if (text === '') throw new Error(`${field} is empty`);
  return storableText(text);
}

export function timeOf(unixMs: bigint, field: string): UnixMs {
  if (unixMs < 0n || unixMs > LAST_UNIX_MS) throw new Error(`${field} is out of range`);
  return Number(unixMs) as UnixMs;
}
