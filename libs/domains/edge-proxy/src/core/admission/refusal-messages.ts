import { nanoUsd, type UnixMs } from '@gateway/base';
import type { BudgetExceeded, InsufficientCredits } from '@gateway/contracts/billing-ledger';
import { budgetPeriodOf, budgetScopeOf } from '@gateway/contracts/common';
import { LimitScope, LimitType, type Refused } from '@gateway/contracts/rate-limit';
import type { ExceededBudget, ExceededLimit, MissingCredits } from '@gateway/public-api';

/** Refusals of other services, converted for the public API. */

export function exceededLimit({ limitType, scope, limit, retryAfterMs }: Refused): ExceededLimit {
  const ofKey = scope === LimitScope.LIMIT_SCOPE_KEY;
  return { limitType: limitTypeOf(limitType), scope: ofKey ? 'key' : 'organization', limit, retryAfterMs };
}

function limitTypeOf(type: LimitType): ExceededLimit['limitType'] {
  switch (type) {
    case LimitType.LIMIT_TYPE_TOKENS:
      return 'tokens';
    case LimitType.LIMIT_TYPE_CONCURRENCY:
      return 'concurrency';
    case LimitType.LIMIT_TYPE_REQUESTS:
    default:
      return 'requests';
  }
}

export function missingCredits(refusal: InsufficientCredits): MissingCredits {
  return {
    availableNanoUsd: nanoUsd(refusal.availableNanoUsd),
    heldNanoUsd: nanoUsd(refusal.heldNanoUsd),
    estimatedCostNanoUsd: nanoUsd(refusal.estimatedCostNanoUsd),
  };
}

export function exceededBudget(refusal: BudgetExceeded): ExceededBudget {
  return {
    scope: budgetScopeOf(refusal.scope) ?? 'organization',
    period: budgetPeriodOf(refusal.period) ?? 'total',
    ...(refusal.hours !== undefined && { hours: refusal.hours }),
    ...(refusal.freesUnixMs !== undefined && { freesAt: Number(refusal.freesUnixMs) as UnixMs }),
    ...(refusal.model !== undefined && { model: refusal.model }),
    limitNanoUsd: nanoUsd(refusal.limitNanoUsd),
    usedNanoUsd: nanoUsd(refusal.usedNanoUsd),
    heldNanoUsd: nanoUsd(refusal.heldNanoUsd),
    estimatedCostNanoUsd: nanoUsd(refusal.estimatedCostNanoUsd),
  };
}
