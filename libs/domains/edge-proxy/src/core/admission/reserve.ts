import { type NanoUsd, unreachable } from '@gateway/base';
import type { Hold, HoldResult } from '@gateway/contracts/billing-ledger';
import { type Budget, BudgetPeriod, BudgetScope } from '@gateway/contracts/common';
import type { ElasticHold } from '@gateway/contracts/inference-router';
import { GatewayError, type Refusal } from '@gateway/errors';
import {
  budgetExceeded,
  insufficientCredits,
  limitExceeded,
  maxCostExceeded,
  unknownRun,
} from '@gateway/public-api';
import type { RecentRefusals } from '../ports';
import type { Admissible, LimitedClient } from './admissible';
import { ownRunId } from './own-run-id';
import { budgetsFor } from './budgets-for';
import { exceededBudget, exceededLimit, missingCredits } from './refusal-messages';
import { firstSlice, placeElasticHold, type PlacedHold } from './elastic-hold';
import type { HoldWaits } from './hold-waits';
import { missingOutcome } from './missing-outcome';
import type { Reservation } from './reservation';

export interface ReservePorts {
  readonly holdWaits: HoldWaits;
  readonly recentRefusals: RecentRefusals;
  /** Deadline of the call to the router. */
  readonly generationTimeoutMs: number;
  /** How long a hold outlives that deadline. */
  readonly holdMarginMs: number;
  /** Output tokens of the first hold, and of each extension, of a stream with an elastic hold. */
  readonly elasticHoldTokens: number;
}

/** Attempts of a hold. The first may start before the request is admitted. */
interface HoldAttempts {
  readonly first: Hold;
  /** Decides from the result of the first attempt whether others follow. */
  place(first: HoldResult): Promise<PlacedHold>;
}

/** What is certain of a request that may run. */
export interface Reserved {
  /** For the router, unless the hold covers the whole output limit. */
  readonly elasticHold: ElasticHold | undefined;
  /** The time that it waited for open holds to be settled. */
  readonly waitedForCreditMs: number;
}

/**
 * Admits the request and holds its credit, at the same time: most requests are within
 * their limits. Where both are refused, the limit is reported. The caller releases what
 * the other has reserved.
 */
export async function reserve(
  ports: ReservePorts,
  client: LimitedClient,
  reservation: Reservation,
  request: Admissible,
): Promise<Reserved | Refusal> {
  const { chat, spendLimits } = request;
  const { maxCostNanoUsd } = spendLimits;
  const tooExpensive =
    maxCostNanoUsd !== undefined && chat.heldCostNanoUsd > maxCostNanoUsd
      ? maxCostExceeded(maxCostNanoUsd, chat)
      : undefined;
  const { first, place } = holdAttempts(ports, client, reservation, request);
  // A hold fixes the budget of a new run, so a refused request must not have placed one.
  const atOnce = !tooExpensive && !spendLimits.run && !ports.recentRefusals.include(request.grant);
  const [admission, early] = await Promise.allSettled([
    admit(ports, client, reservation, request),
    atOnce ? reservation.hold(first) : undefined,
  ]);
  if (admission.status === 'rejected') {
    ports.recentRefusals.add(request.grant, 'organization');
    throw admission.reason;
  }
  if (admission.value) return admission.value;
  client.throwIfCancelled();
  if (tooExpensive) return tooExpensive;
  if (early.status === 'rejected') throw early.reason;
  const placed = await place(early.value ?? (await reservation.hold(first)));
  const { result, elastic, waitedMs } = placed;
  return holdRefusal(result, request) ?? { elasticHold: elastic, waitedForCreditMs: waitedMs };
}

async function admit(
  { recentRefusals }: ReservePorts,
  client: LimitedClient,
  reservation: Reservation,
  { grant, chat, generationId }: Admissible,
): Promise<Refusal | undefined> {
  const { outcome, requests, tokens } = await reservation.admit({
    admissionId: generationId,
    organizationId: grant.organizationId,
    keyId: grant.keyId,
    tokens: chat.estimatedInputTokens + chat.maxOutputTokens * chat.n,
    organizationLimits: grant.organizationLimits,
    keyLimits: grant.keyLimits,
  });
  client.report.rateLimits = { requests, tokens };
  if (!outcome) throw missingOutcome('an admission');
  if (outcome.$case !== 'refused') return undefined;
  const limit = exceededLimit(outcome.value);
  recentRefusals.add(grant, limit.scope);
  return limitExceeded(limit);
}

function holdAttempts(
  { holdMarginMs, generationTimeoutMs, holdWaits, elasticHoldTokens }: ReservePorts,
  client: LimitedClient,
  reservation: Reservation,
  { grant, chat, generationId, createdAt, idempotent, spendLimits }: Admissible,
): HoldAttempts {
  const { run } = spendLimits;
  const runId = run && ownRunId(grant, run.id);
  const hold: Hold = {
    holdId: generationId,
    organizationId: grant.organizationId,
    keyId: grant.keyId,
    amountNanoUsd: chat.heldCostNanoUsd,
    prices: chat.model.prices,
    lifetimeMs: generationTimeoutMs + holdMarginMs,
    createdUnixMs: BigInt(createdAt),
    idempotencyScope: idempotent?.scope,
    runId,
    projectId: grant.projectId,
    budgets:
      runId === undefined || run?.budgetNanoUsd === undefined
        ? budgetsFor(grant, chat)
        : [...budgetsFor(grant, chat), runBudget(runId, run.budgetNanoUsd)],
  };
  if (grant.elasticHolds && chat.isOutputVisible) {
    const elastic = { hold, chat, sliceTokens: elasticHoldTokens };
    return {
      first: firstSlice(elastic),
      place: (result) => placeElasticHold({ reservation, holdWaits, client }, elastic, result),
    };
  }
  return {
    first: hold,
    place: async (result) => ({
      ...(await holdWaits.hold(reservation, hold, client, result)),
      elastic: undefined,
    }),
  };
}

function runBudget(ownerId: string, amountNanoUsd: NanoUsd): Budget {
  return {
    scope: BudgetScope.BUDGET_SCOPE_RUN,
    ownerId,
    period: BudgetPeriod.BUDGET_PERIOD_TOTAL,
    amountNanoUsd,
  };
}

function holdRefusal({ outcome }: HoldResult, { chat, createdAt }: Admissible): Refusal | undefined {
  switch (outcome?.$case) {
    case 'held':
      return undefined;
    case 'insufficientCredits':
      return insufficientCredits(missingCredits(outcome.value), chat);
    case 'budgetExceeded':
      return budgetExceeded(exceededBudget(outcome.value), chat, createdAt);
    case 'unknownRun':
      return unknownRun();
    case 'rejected':
      throw new GatewayError('internal_error', {
        internalMessage: `the ledger rejected the hold: ${outcome.value.reason}`,
      });
    case undefined:
      throw missingOutcome('a hold');
    default:
      return unreachable(outcome);
  }
}
