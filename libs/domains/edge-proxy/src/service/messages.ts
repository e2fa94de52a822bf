import { nanoUsd } from '@gateway/base';
import {
  BudgetScope,
  type DailyBudgetExceeded,
  type InsufficientCredits,
} from '@gateway/contracts/billing-ledger';
import { LimitScope, LimitType, type Refused } from '@gateway/contracts/rate-limit';
import type { ExceededBudget, ExceededLimit, MissingCredits } from '@gateway/public-api';

/** What the services answer, in the words of the public API. */

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

export function missingCredits(answer: InsufficientCredits): MissingCredits {
  return {
    available: nanoUsd(answer.availableNanoUsd),
    estimatedCost: nanoUsd(answer.estimatedCostNanoUsd),
  };
}

export function exceededBudget(answer: DailyBudgetExceeded): ExceededBudget {
  return {
    scope: answer.scope === BudgetScope.BUDGET_SCOPE_KEY ? 'key' : 'organization',
    limit: nanoUsd(answer.limitNanoUsd),
    used: nanoUsd(answer.usedNanoUsd),
    estimatedCost: nanoUsd(answer.estimatedCostNanoUsd),
  };
}
