import { formatUsd, msUntilUtcMidnight, nanoUsd, type UnixMs, usdNumber, worstCaseCost } from '@gateway/base';
import {
  BudgetScope,
  type DailyBudgetExceeded,
  type InsufficientCredits,
} from '@gateway/contracts/billing-ledger';
import { LimitScope, LimitType, type Refused } from '@gateway/contracts/rate-limit';
import { GatewayError, type Refusal, refuse, toGatewayError } from '@gateway/errors';
import { type ValidatedChatRequest } from '../../core';

/**
 * What the caller is told when a limiter or the ledger says no. Some clients
 * classify errors by words in the text: these say nothing of billing or quotas
 * where a caller should simply wait.
 */
export function refusedByLimiter({ limitType, scope, limit, retryAfterMs }: Refused): Refusal {
  const ofKey = scope === LimitScope.LIMIT_SCOPE_KEY;
  const owner = ofKey ? 'API key' : 'organization';
  const common = { scope: ofKey ? 'key' : 'organization', limit };
  switch (limitType) {
    case LimitType.LIMIT_TYPE_TOKENS:
      return refuse('tpm_exceeded', {
        message: `Too many tokens: this ${owner} may use ${limit} tokens per minute. Retry when the minute is over.`,
        metadata: { limit_type: 'tpm', ...common },
        retryAfterMs,
      });
    case LimitType.LIMIT_TYPE_CONCURRENCY:
      return refuse('rpm_exceeded', {
        message: `Too many requests at once: this ${owner} may run ${limit} at the same time. Retry in a second.`,
        metadata: { limit_type: 'concurrency', ...common },
        retryAfterMs,
      });
    case LimitType.LIMIT_TYPE_REQUESTS:
    default:
      return refuse('rpm_exceeded', {
        message: `Too many requests: this ${owner} may send ${limit} requests per minute. Retry when the minute is over.`,
        metadata: { limit_type: 'rpm', ...common },
        retryAfterMs,
      });
  }
}

export function insufficientCredits(
  { availableNanoUsd, estimatedCostNanoUsd }: InsufficientCredits,
  chat: ValidatedChatRequest,
): Refusal {
  const available = nanoUsd(availableNanoUsd);
  const estimate = nanoUsd(estimatedCostNanoUsd);
  const affordable = affordableOutputTokens(availableNanoUsd, chat);
  const advice =
    affordable > 0
      ? `Lower max_tokens (${chat.maxOutputTokens} for this request) to at most ${affordable}, or add credit.`
      : 'Add credit; lowering max_tokens is not enough.';
  return refuse('insufficient_credits', {
    message: `This request can cost up to $${formatUsd(estimate)} and $${formatUsd(available)} is available. ${advice}`,
    metadata: {
      available: usdNumber(available),
      estimated_cost: usdNumber(estimate),
      currency: 'USD',
      max_affordable_output_tokens: affordable,
    },
  });
}

/** The largest max_tokens whose worst case the amount covers; 0 when none. */
function affordableOutputTokens(availableNanoUsd: bigint, chat: ValidatedChatRequest): number {
  const { prices } = chat.model;
  const outputCost = (tokens: number) => worstCaseCost(0, tokens * chat.n, prices);
  // What the hold asks for beyond the output is its input, whatever the margin on it.
  const inputCost = chat.heldCost - outputCost(chat.maxOutputTokens);
  let fits = 0;
  let tooMany = chat.maxOutputTokens + 1;
  while (tooMany - fits > 1) {
    const middle = Math.floor((fits + tooMany) / 2);
    if (inputCost + outputCost(middle) <= availableNanoUsd) fits = middle;
    else tooMany = middle;
  }
  return fits;
}

export function dailyBudgetExceeded(
  { scope, limitNanoUsd, usedNanoUsd, estimatedCostNanoUsd }: DailyBudgetExceeded,
  at: UnixMs,
): Refusal {
  const ofKey = scope === BudgetScope.BUDGET_SCOPE_KEY;
  const owner = ofKey ? 'API key' : 'organization';
  const limit = nanoUsd(limitNanoUsd);
  const estimate = formatUsd(nanoUsd(estimatedCostNanoUsd));
  const message =
    estimatedCostNanoUsd > limitNanoUsd
      ? `This request alone can cost up to $${estimate}, more than the daily budget of $${formatUsd(limit)} of this ${owner}. Lower max_tokens or raise the budget.`
      : `The daily budget of $${formatUsd(limit)} of this ${owner} does not cover this request: $${formatUsd(nanoUsd(usedNanoUsd))} is used or reserved today and the request can cost up to $${estimate}. The budget resets at 00:00 UTC.`;
  return refuse('daily_budget_exceeded', {
    message,
    metadata: { limit_type: 'daily_budget', scope: ofKey ? 'key' : 'organization', limit: usdNumber(limit) },
    retryAfterMs: msUntilUtcMidnight(at),
  });
}

/**
 * A call to a service that is asked before anything runs. That it could not be
 * reached, or was too slow, is a lack of capacity: nothing was run or billed,
 * and the caller may try again.
 */
export async function withoutDispatch<Answer>(call: Promise<Answer>): Promise<Answer> {
  try {
    return await call;
  } catch (thrown) {
    const error = toGatewayError(thrown);
    if (error.code !== 'request_timeout' && error.code !== 'upstream_error') throw error;
    throw new GatewayError('no_capacity', { internalMessage: error.internalMessage, cause: thrown });
  }
}
