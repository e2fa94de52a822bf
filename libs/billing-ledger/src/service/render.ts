import type { Balance } from '../core/credit/balance';
import { remainderOf } from '../core/credit/balance';
import {
  BudgetScope,
  type ClaimIdempotencyKeyResponse,
  type GetBalanceResponse,
  type HoldResult,
} from '@gateway/contracts/billing-ledger';
import { GatewayError } from '@gateway/errors';
import { unreachable, type NanoUsd } from '@gateway/base';
import type { ClaimOutcome } from '../core/idempotency/claim';
import type { HoldOutcome } from '../core/credit/hold';

export function renderHoldOutcome(outcome: HoldOutcome, estimatedCostNanoUsd: NanoUsd): HoldResult {
  switch (outcome.kind) {
    case 'held':
      return { outcome: { $case: 'held', value: {} } };
    case 'insufficient_credits':
      return {
        outcome: {
          $case: 'insufficientCredits',
          value: { availableNanoUsd: outcome.availableNanoUsd, estimatedCostNanoUsd },
        },
      };
    case 'daily_budget_exceeded':
      return {
        outcome: {
          $case: 'dailyBudgetExceeded',
          value: {
            scope:
              outcome.scope === 'key' ? BudgetScope.BUDGET_SCOPE_KEY : BudgetScope.BUDGET_SCOPE_ORGANIZATION,
            limitNanoUsd: outcome.limitNanoUsd,
            usedNanoUsd: outcome.usedNanoUsd,
            estimatedCostNanoUsd,
          },
        },
      };
    case 'foreign':
      throw new GatewayError('internal_error', {
        internalMessage: 'a hold id is in use by another organization',
      });
    default:
      return unreachable(outcome);
  }
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

export function renderClaimOutcome(outcome: ClaimOutcome): ClaimIdempotencyKeyResponse {
  switch (outcome.kind) {
    case 'claimed':
      return { outcome: { $case: 'claimed', value: {} } };
    case 'in_flight':
      return { outcome: { $case: 'inFlight', value: {} } };
    case 'body_mismatch':
      return { outcome: { $case: 'bodyMismatch', value: {} } };
    case 'completed':
      return {
        outcome: {
          $case: 'completed',
          value: {
            generationId: outcome.generationId,
            responseJson: Buffer.from(outcome.responseJson),
          },
        },
      };
    default:
      return unreachable(outcome);
  }
}
