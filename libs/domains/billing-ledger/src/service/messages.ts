import {
  DAY_MS,
  isWindowHours,
  LAST_UNIX_MS,
  MAX_PRICE_NANO_USD_PER_MILLION,
  nanoUsd,
  storableText,
  unreachable,
  type Actor,
  type Budget,
  type BudgetScope,
  type NanoUsd,
  type Prices,
  type TokenPrices,
  type UnixMs,
} from '@gateway/base';
import type {
  ClaimRef as ClaimRefMessage,
  GetBalanceResponse,
  GetRunResponse,
  Hold,
  HoldRef as HoldRefMessage,
  HoldResult,
} from '@gateway/contracts/billing-ledger';
import {
  budgetPeriodMessage,
  budgetPeriodOf,
  budgetScopeMessage,
  budgetScopeOf,
  type Budget as BudgetMessage,
  type Prices as PricesMessage,
} from '@gateway/contracts/common';
import {
  idempotentEndingOf,
  type IdempotentEnding as EndingMessage,
  type GenerationFinished,
  type IdempotentOutcome,
} from '@gateway/contracts/events';
import { GatewayError } from '@gateway/errors';
import { remainderOf, type Balance } from '../core/credit/balance';
import type { HoldOutcome, HoldRef, HoldRequest, RunAccount } from '../core/credit/hold';
import type { ClaimRef } from '../core/idempotency/claim';
import type { EndedClaim } from '../core/idempotency/batch-claims';
import type { IdempotentEnding } from '../core/idempotency/endings';
import {
  MAX_AMOUNT_NANO_USD,
  MAX_CLAIM_LEASE_MS,
  MAX_END_USER_LENGTH,
  MAX_HOLD_LIFETIME_MS,
  MAX_IDENTIFIER_LENGTH,
  MAX_ITEMS_PER_CALL,
  MAX_MODEL_LENGTH,
  MAX_NOTE_LENGTH,
  MAX_RUN_ID_LENGTH,
} from '../core/limits';
import type { FinishedGeneration } from '../core/settlement/settlement';
import { encryptedResponseOf } from './encrypted-responses';

const SHA256_BYTES = 32;

/** The owner that the budgets of a hold have, by scope: spending is counted for this one only. */
const OWNERS: Readonly<Record<BudgetScope, (hold: Hold) => string | undefined>> = {
  run: (hold) => hold.runId,
  end_user: (hold) => hold.keyId,
  key: (hold) => hold.keyId,
  project: (hold) => hold.projectId,
  organization: () => '',
};

/** Printable ASCII without spaces, as in every id of the gateway. */
const IDENTIFIER = /^[\x21-\x7e]+$/;

/** An invalid message. `message` names the problem without repeating the content. */
export class MalformedMessageError extends Error {
  override readonly name = 'MalformedMessageError';
}

/** Runs a request parser and converts a malformed message to `invalid_request`. */
export function parseRequest<Result>(parse: () => Result): Result {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof MalformedMessageError)) throw error;
    throw new GatewayError('invalid_request', {
      message: 'The ledger cannot read this request.',
      internalMessage: error.message,
    });
  }
}

export function parseIdentifier(name: string, text: string): string {
  if (text.length > MAX_IDENTIFIER_LENGTH || !IDENTIFIER.test(text)) {
    throw new MalformedMessageError(`${name} is not an id`);
  }
  return text;
}

export function parseItems<Item>(name: string, items: readonly Item[]): readonly Item[] {
  if (items.length > MAX_ITEMS_PER_CALL) {
    throw new MalformedMessageError(`${name} has ${items.length} items, more than ${MAX_ITEMS_PER_CALL}`);
  }
  return items;
}

export function parseAmount(name: string, amount: bigint, least = 0n): NanoUsd {
  if (amount < least || amount > MAX_AMOUNT_NANO_USD) {
    throw new MalformedMessageError(`${name} is outside ${least} to ${MAX_AMOUNT_NANO_USD} nano-dollars`);
  }
  return nanoUsd(amount);
}

/** Returns an invalid hold as an outcome, so that it does not refuse the other holds of the request. */
export function readHold(hold: Hold): HoldRequest | Extract<HoldOutcome, { kind: 'invalid' }> {
  try {
    return parseHold(hold);
  } catch (error) {
    if (!(error instanceof MalformedMessageError)) throw error;
    return { kind: 'invalid', reason: error.message };
  }
}

function parseHold(hold: Hold): HoldRequest {
  if (!hold.prices) throw new MalformedMessageError('a hold has no prices');
  return {
    holdId: parseIdentifier('hold_id', hold.holdId),
    organizationId: parseIdentifier('organization_id', hold.organizationId),
    keyId: parseIdentifier('key_id', hold.keyId),
    amountNanoUsd: parseAmount('amount_nano_usd', hold.amountNanoUsd),
    prices: parsePrices(hold.prices),
    createdAt: parseTime('created_unix_ms', hold.createdUnixMs),
    lifetimeMs: parseDuration('lifetime_ms', hold.lifetimeMs, MAX_HOLD_LIFETIME_MS),
    idempotencyScope:
      hold.idempotencyScope === undefined
        ? undefined
        : parseIdentifier('idempotency_scope', hold.idempotencyScope),
    runId: hold.runId === undefined ? undefined : parseRunId(hold.runId),
    projectId: hold.projectId === undefined ? undefined : parseIdentifier('project_id', hold.projectId),
    budgets: hold.budgets.map((budget) => parseBudget(budget, hold)),
  };
}

function parseBudget(message: BudgetMessage, hold: Hold): Budget {
  const { ownerId, amountNanoUsd, hours, model, endUser, ...budget } = message;
  const scope = budgetScopeOf(budget.scope);
  const period = budgetPeriodOf(budget.period);
  if (!scope || !period) throw new MalformedMessageError('a budget has an unknown scope or period');
  if (OWNERS[scope](hold) !== ownerId)
    throw new MalformedMessageError(`a budget is not of the hold's ${scope}`);
  if (amountNanoUsd < 0n) throw new MalformedMessageError('a budget is below zero');
  if (period === 'window' ? !isWindowHours(hours ?? 0) : hours !== undefined)
    throw new MalformedMessageError(`the hours of a budget are not those of its period`);
  if ((scope === 'end_user') !== (endUser !== undefined))
    throw new MalformedMessageError('a budget names an end user and has another scope, or the reverse');
  if ((endUser ?? '').length > MAX_END_USER_LENGTH)
    throw new MalformedMessageError('an end user is too long');
  if ((model ?? '').length > MAX_MODEL_LENGTH || (model !== undefined && !IDENTIFIER.test(model)))
    throw new MalformedMessageError('the models of a budget are no pattern of ids');
  return {
    ...{ scope, ownerId, period, amountNanoUsd: nanoUsd(amountNanoUsd) },
    ...(hours !== undefined && { hours }),
    ...(model !== undefined && { model }),
    ...(endUser !== undefined && { endUser: storableText(endUser) }),
  };
}

export function parseRunId(runId: string): string {
  if (runId.length > MAX_RUN_ID_LENGTH) {
    throw new MalformedMessageError(`run_id is longer than ${MAX_RUN_ID_LENGTH} characters`);
  }
  return parseIdentifier('run_id', runId);
}

export function parseHoldRef({ holdId, organizationId }: HoldRefMessage): HoldRef {
  return {
    holdId: parseIdentifier('hold_id', holdId),
    organizationId: parseIdentifier('organization_id', organizationId),
  };
}

export function parseFinished(finished: GenerationFinished): FinishedGeneration {
  const { endedClaim } = finished;
  if (!finished.usage) throw new MalformedMessageError('a finished generation has no usage');
  return {
    generationId: parseIdentifier('generation_id', finished.generationId),
    organizationId: parseIdentifier('organization_id', finished.organizationId),
    keyId: parseIdentifier('key_id', finished.keyId),
    projectId:
      finished.projectId === undefined ? undefined : parseIdentifier('project_id', finished.projectId),
    createdAt: parseTime('created_unix_ms', finished.createdUnixMs),
    usage: finished.usage,
    prices: finished.prices && parsePrices(finished.prices),
    endedClaim: endedClaim && parseEndedClaim(finished.generationId, endedClaim),
  };
}

/** Events without a known ending: completed if they have a response, else failed. */
function parseEndedClaim(generationId: string, message: IdempotentOutcome): EndedClaim {
  const scope = parseIdentifier('ended_claim.scope', message.scope);
  const response = encryptedResponseOf({ scope, generationId }, message);
  return {
    scope,
    ending: idempotentEndingOf(message.ending) ?? (response ? 'completed' : 'failed'),
    response,
  };
}

export function parseEnding(message: EndingMessage): IdempotentEnding {
  const ending = idempotentEndingOf(message);
  if (!ending) throw new MalformedMessageError('a claim has no known ending');
  return ending;
}

function parseTime(name: string, unixMs: bigint): UnixMs {
  // Zero means that the field was not set, so the first day of 1970 is refused.
  if (unixMs < BigInt(DAY_MS) || unixMs > LAST_UNIX_MS)
    throw new MalformedMessageError(`${name} is not a time`);
  return Number(unixMs) as UnixMs;
}

function parseDuration(name: string, durationMs: number, maxMs: number): number {
  if (durationMs < 1 || durationMs > maxMs) {
    throw new MalformedMessageError(`${name} is outside 1 to ${maxMs}`);
  }
  return durationMs;
}

function parsePrices(prices: PricesMessage): Prices {
  const { tiers, ...base } = prices;
  let above = 0;
  for (const { abovePromptTokens, ...tier } of tiers) {
    if (abovePromptTokens <= above) throw new MalformedMessageError('price tiers do not ascend');
    above = abovePromptTokens;
    checkTokenPrices(tier);
  }
  checkTokenPrices(base);
  return prices;
}

function checkTokenPrices(prices: TokenPrices): void {
  for (const price of Object.values(prices) as bigint[]) {
    if (price < 0n || price > MAX_PRICE_NANO_USD_PER_MILLION) {
      throw new MalformedMessageError(
        `a price is outside 0 to ${MAX_PRICE_NANO_USD_PER_MILLION} nano-dollars per million`,
      );
    }
  }
}

export function parseClaimRef(claim: ClaimRefMessage | undefined): ClaimRef {
  if (!claim) throw new MalformedMessageError('a claim is missing');
  return {
    scope: parseIdentifier('scope', claim.scope),
    generationId: parseIdentifier('generation_id', claim.generationId),
  };
}

export function parseSha256(bytes: Uint8Array): Uint8Array {
  if (bytes.length !== SHA256_BYTES) throw new MalformedMessageError('body_sha256 is not 32 bytes');
  return bytes;
}

export function parseLease(leaseMs: number): number {
  return parseDuration('lease_ms', leaseMs, MAX_CLAIM_LEASE_MS);
}

/** What a statement shows for a change of the balance: the person, and their reason. */
export function noteOf({ label }: Pick<Actor, 'label'>, reason: string): string {
  return reason === '' ? label : `${label}: ${reason}`;
}

export function parseNote(note: string): string {
  if (note.length > MAX_NOTE_LENGTH || note.includes('\0')) {
    throw new MalformedMessageError(`note is longer than ${MAX_NOTE_LENGTH} characters or has a NUL`);
  }
  return note;
}

export function renderHoldOutcome(outcome: HoldOutcome, estimatedCostNanoUsd: bigint): HoldResult {
  switch (outcome.kind) {
    case 'held':
      return { outcome: { $case: 'held', value: {} } };
    case 'insufficient_credits':
      return {
        outcome: {
          $case: 'insufficientCredits',
          value: {
            availableNanoUsd: outcome.availableNanoUsd,
            heldNanoUsd: outcome.heldNanoUsd,
            estimatedCostNanoUsd,
          },
        },
      };
    case 'budget_exceeded':
      return {
        outcome: {
          $case: 'budgetExceeded',
          value: {
            scope: budgetScopeMessage(outcome.scope),
            period: budgetPeriodMessage(outcome.period),
            limitNanoUsd: outcome.limitNanoUsd,
            usedNanoUsd: outcome.usedNanoUsd,
            heldNanoUsd: outcome.heldNanoUsd,
            estimatedCostNanoUsd,
            hours: outcome.hours,
            freesUnixMs: outcome.freesAt === undefined ? undefined : BigInt(outcome.freesAt),
            model: outcome.model,
          },
        },
      };
    case 'unknown_run':
      return { outcome: { $case: 'unknownRun', value: {} } };
    case 'foreign':
      return rejected('the hold id is in use by another organization');
    case 'closed':
      return rejected('the hold was settled, voided or abandoned before');
    case 'invalid':
      return rejected(outcome.reason);
    default:
      return unreachable(outcome);
  }
}

function rejected(reason: string): HoldResult {
  return { outcome: { $case: 'rejected', value: { reason } } };
}

export function renderBalance(balance: Balance): GetBalanceResponse {
  return {
    totalCreditsNanoUsd: balance.creditedNanoUsd,
    totalUsageNanoUsd: balance.chargedNanoUsd,
    balanceNanoUsd: remainderOf(balance),
    heldNanoUsd: balance.heldNanoUsd,
    availableNanoUsd: balance.availableNanoUsd,
  };
}

export function renderRun(run: RunAccount | undefined): GetRunResponse {
  if (!run) return {};
  const { createdAt, ...amounts } = run;
  return { run: { ...amounts, createdUnixMs: BigInt(createdAt) } };
}
