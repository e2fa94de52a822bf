import {
  formatUsd,
  msUntilUtcMidnight,
  type NanoUsd,
  type UnixMs,
  usdNumber,
  worstCaseCost,
} from '@gateway/base';
import { type Refusal, refuse } from '@gateway/errors';
import type { ValidatedChatRequest } from '../chat-completion/types';

/** The available balance and the estimated cost of a request. */
export interface MissingCredits {
  readonly available: NanoUsd;
  readonly estimatedCost: NanoUsd;
}

export function insufficientCredits(
  { available, estimatedCost }: MissingCredits,
  chat: ValidatedChatRequest,
): Refusal {
  const affordable = affordableOutputTokens(available, chat);
  const advice =
    affordable > 0
      ? `Lower max_tokens (${chat.maxOutputTokens} for this request) to at most ${affordable}, or add credit.`
      : 'Add credit; lowering max_tokens is not enough.';
  return refuse('insufficient_credits', {
    message: `This request can cost up to $${formatUsd(estimatedCost)} and $${formatUsd(available)} is available. ${advice}`,
    metadata: {
      available: usdNumber(available),
      estimated_cost: usdNumber(estimatedCost),
      currency: 'USD',
      max_affordable_output_tokens: affordable,
    },
  });
}

/** The largest max_tokens whose maximum cost the amount covers; 0 when none. */
function affordableOutputTokens(available: NanoUsd, chat: ValidatedChatRequest): number {
  const { prices } = chat.model;
  const outputCost = (tokens: number) => worstCaseCost(0, tokens * chat.n, prices);
  // The held cost minus the output is the input cost, including its margin.
  const inputCost = chat.heldCost - outputCost(chat.maxOutputTokens);
  let fits = 0;
  let tooMany = chat.maxOutputTokens + 1;
  while (tooMany - fits > 1) {
    const middle = Math.floor((fits + tooMany) / 2);
    if (inputCost + outputCost(middle) <= available) fits = middle;
    else tooMany = middle;
  }
  return fits;
}

/** A daily budget and the estimated cost of a request. */
export interface ExceededBudget {
  /** The owner of the budget. */
  readonly scope: 'key' | 'organization';
  readonly limit: NanoUsd;
  /** Used or reserved today. */
  readonly used: NanoUsd;
  readonly estimatedCost: NanoUsd;
}

export function dailyBudgetExceeded(
  { scope, limit, used, estimatedCost }: ExceededBudget,
  at: UnixMs,
): Refusal {
  const owner = scope === 'key' ? 'API key' : 'organization';
  const estimate = formatUsd(estimatedCost);
  const message =
    estimatedCost > limit
      ? `This request alone can cost up to $${estimate}, more than the daily budget of $${formatUsd(limit)} of this ${owner}. Lower max_tokens or raise the budget.`
      : `The daily budget of $${formatUsd(limit)} of this ${owner} does not cover this request: $${formatUsd(used)} is used or reserved today and the request can cost up to $${estimate}. The budget resets at 00:00 UTC.`;
  return refuse('daily_budget_exceeded', {
    message,
    metadata: { limit_type: 'daily_budget', scope, limit: usdNumber(limit) },
    retryAfterMs: msUntilUtcMidnight(at),
  });
}
