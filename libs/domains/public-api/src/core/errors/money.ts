import { formatUsd, msUntilUtcMidnight, type NanoUsd, type UnixMs, usdNumber } from '@gateway/base';
import { type Refusal, refuse } from '@gateway/errors';
import { heldCostOf } from '../chat-completion/held-cost';
import type { ValidatedChatRequest } from '../chat-completion/types';

/** Running requests are usually settled within seconds. */
const RETRY_SOON_MS = 2_000;

/** The available balance and the estimated cost of a request. */
export interface MissingCredits {
  readonly available: NanoUsd;
  /** Reserved by running requests, in addition. */
  readonly held: NanoUsd;
  readonly estimatedCost: NanoUsd;
}

export function insufficientCredits(
  { available, held, estimatedCost }: MissingCredits,
  chat: ValidatedChatRequest,
): Refusal {
  const isTemporary = available + held >= estimatedCost;
  const affordable = affordableOutputTokens(available, chat);
  const fix =
    affordable > 0
      ? `Lower max_tokens (${chat.maxOutputTokens} for this request) to at most ${affordable}, or add credit.`
      : 'Add credit; lowering max_tokens is not enough.';
  const advice = isTemporary ? `Retry in a few seconds, when they have finished. Or: ${fix}` : fix;
  const reserved = held > 0n ? `; running requests reserve $${formatUsd(held)}` : '';
  return refuse('insufficient_credits', {
    message: `This request can cost up to $${formatUsd(estimatedCost)} and $${formatUsd(available)} is available${reserved}. ${advice}`,
    metadata: {
      available: usdNumber(available),
      held: usdNumber(held),
      estimated_cost: usdNumber(estimatedCost),
      currency: 'USD',
      max_affordable_output_tokens: affordable,
    },
    ...(isTemporary && { retrySoonMs: RETRY_SOON_MS }),
  });
}

/** The largest max_tokens whose maximum cost the amount covers; 0 when none. */
function affordableOutputTokens(available: NanoUsd, chat: ValidatedChatRequest): number {
  let fits = 0;
  let tooMany = chat.maxOutputTokens + 1;
  while (tooMany - fits > 1) {
    const middle = Math.floor((fits + tooMany) / 2);
    if (heldCostOf(chat, middle) <= available) fits = middle;
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
  /** The part of it that running requests reserve. */
  readonly held: NanoUsd;
  readonly estimatedCost: NanoUsd;
}

export function dailyBudgetExceeded(
  { scope, limit, used, held, estimatedCost }: ExceededBudget,
  at: UnixMs,
): Refusal {
  const isTemporary = limit - used + held >= estimatedCost;
  const owner = scope === 'key' ? 'API key' : 'organization';
  const estimate = formatUsd(estimatedCost);
  const message =
    estimatedCost > limit
      ? `This request alone can cost up to $${estimate}, more than the daily budget of $${formatUsd(limit)} of this ${owner}. Lower max_tokens or raise the budget.`
      : `The daily budget of $${formatUsd(limit)} of this ${owner} does not cover this request: $${formatUsd(used)} is used or reserved today and the request can cost up to $${estimate}. ${isTemporary ? `Running requests reserve $${formatUsd(held)} of it: retry in a few seconds, when they have finished.` : 'The budget resets at 00:00 UTC.'}`;
  return refuse('daily_budget_exceeded', {
    message,
    metadata: { limit_type: 'daily_budget', scope, limit: usdNumber(limit), held: usdNumber(held) },
    retryAfterMs: msUntilUtcMidnight(at),
    ...(isTemporary && { retrySoonMs: RETRY_SOON_MS }),
  });
}
