import {
  type BudgetPeriod,
  type BudgetScope,
  formatUsd,
  msUntilUtcMidnight,
  nanoUsd,
  type NanoUsd,
  type UnixMs,
  unreachable,
  usdNumber,
} from '@gateway/base';
import { type Refusal, refuse } from '@gateway/errors';
import { affordableOutputTokens } from '../chat-completion/lower-to-max-cost';
import type { ValidatedChatRequest } from '../chat-completion/types';
import { MAX_COST_HEADER, RUN_BUDGET_HEADER, RUN_ID_HEADER } from '../spend-limits/parse-spend-limits';

/** Running requests are usually settled within seconds. */
const RETRY_SOON_MS = 2_000;

/** The available balance and the estimated cost of a request. */
export interface MissingCredits {
  readonly availableNanoUsd: NanoUsd;
  /** Reserved by running requests, in addition. */
  readonly heldNanoUsd: NanoUsd;
  readonly estimatedCostNanoUsd: NanoUsd;
}

export function insufficientCredits(
  { availableNanoUsd, heldNanoUsd, estimatedCostNanoUsd }: MissingCredits,
  chat: ValidatedChatRequest,
): Refusal {
  const isTemporary = availableNanoUsd + heldNanoUsd >= estimatedCostNanoUsd;
  const affordable = affordableOutputTokens(availableNanoUsd, chat);
  const fix =
    affordable > 0
      ? `Lower max_tokens (${chat.maxOutputTokens} for this request) to at most ${affordable}, or add credit.`
      : chat.maxOutputTokens === 0
        ? 'Add credit, or shorten the input.'
        : 'Add credit; lowering max_tokens is not enough.';
  const advice = isTemporary ? `Retry in a few seconds, when they have finished. Or: ${fix}` : fix;
  const reserved = heldNanoUsd > 0n ? `; running requests reserve $${formatUsd(heldNanoUsd)}` : '';
  return refuse('insufficient_credits', {
    message: `This request can cost up to $${formatUsd(estimatedCostNanoUsd)} and $${formatUsd(availableNanoUsd)} is available${reserved}. ${advice}`,
    metadata: {
      available: usdNumber(availableNanoUsd),
      held: usdNumber(heldNanoUsd),
      estimated_cost: usdNumber(estimatedCostNanoUsd),
      currency: 'USD',
      max_affordable_output_tokens: affordable,
    },
    ...(isTemporary && { retrySoonMs: RETRY_SOON_MS }),
  });
}

/** The request alone can cost more than its x-max-cost-usd, with the shortest output. */
export function maxCostExceeded(
  maxCost: NanoUsd,
  { heldCostNanoUsd, maxOutputTokens }: ValidatedChatRequest,
): Refusal {
  const parts = maxOutputTokens === 0 ? 'The input' : 'The input and one token of output';
  return refuse('insufficient_credits', {
    message: `${parts} can cost up to $${formatUsd(heldCostNanoUsd)}, more than the $${formatUsd(maxCost)} of ${MAX_COST_HEADER}. Shorten the input, use a cheaper model, or raise ${MAX_COST_HEADER}.`,
    metadata: {
      scope: 'request',
      limit_type: 'max_cost',
      limit: usdNumber(maxCost),
      available: usdNumber(maxCost),
      held: 0,
      estimated_cost: usdNumber(heldCostNanoUsd),
      currency: 'USD',
      max_affordable_output_tokens: 0,
    },
  });
}

/** The first request of a run has no budget. */
export function unknownRun(): Refusal {
  return refuse('invalid_request', {
    message: `This run is unknown. The first request of a run sends ${RUN_BUDGET_HEADER} with its ${RUN_ID_HEADER}.`,
    param: RUN_BUDGET_HEADER,
  });
}

/** A budget and the estimated cost of a request. */
export interface ExceededBudget {
  readonly scope: BudgetScope;
  readonly period: BudgetPeriod;
  /** The length of a rolling window, and when enough has left it, unless more is spent. */
  readonly hours?: number;
  readonly freesAt?: UnixMs;
  /** The id of a model, or a pattern of ids; absent: all models count. */
  readonly model?: string;
  readonly limitNanoUsd: NanoUsd;
  /** Used or reserved in the period. */
  readonly usedNanoUsd: NanoUsd;
  /** The part of it that running requests reserve. */
  readonly heldNanoUsd: NanoUsd;
  readonly estimatedCostNanoUsd: NanoUsd;
}

/** `daily_budget_exceeded` for a day; a longer budget needs a person to raise it, like the balance. */
export function budgetExceeded(exceeded: ExceededBudget, chat: ValidatedChatRequest, at: UnixMs): Refusal {
  const { period } = exceeded;
  return period === 'day'
    ? dailyBudgetExceeded(exceeded, at)
    : longBudgetExceeded(exceeded, period, chat, at);
}

const OWNERS: Readonly<Record<BudgetScope, string>> = {
  run: 'run',
  end_user: 'end user',
  key: 'API key',
  project: 'project',
  organization: 'organization',
};

function ownerOf({ scope, model }: ExceededBudget): string {
  return model === undefined ? OWNERS[scope] : `${OWNERS[scope]} for ${model}`;
}

type LongPeriod = Exclude<BudgetPeriod, 'day'>;

const PERIOD_ADJECTIVES = {
  week: 'weekly',
  month: 'monthly',
  window: 'window',
  total: 'total',
} as const satisfies Record<LongPeriod, string>;

function longBudgetExceeded(
  exceeded: ExceededBudget,
  period: LongPeriod,
  chat: ValidatedChatRequest,
  at: UnixMs,
): Refusal {
  const { scope, hours, freesAt, model, limitNanoUsd, usedNanoUsd, heldNanoUsd, estimatedCostNanoUsd } =
    exceeded;
  const left = nanoUsd(limitNanoUsd > usedNanoUsd ? limitNanoUsd - usedNanoUsd : 0n);
  const isTemporary = limitNanoUsd - usedNanoUsd + heldNanoUsd >= estimatedCostNanoUsd;
  const affordable = affordableOutputTokens(left, chat);
  const fix =
    affordable > 0
      ? `Lower max_tokens (${chat.maxOutputTokens} for this request) to at most ${affordable}.`
      : chat.maxOutputTokens === 0
        ? 'Shorten the input.'
        : 'Lowering max_tokens is not enough.';
  const end = period === 'window' ? freesAt : endOfPeriod(period, at);
  const time = end === undefined ? '' : new Date(end).toISOString();
  const whenFree = `on ${time.slice(0, 10)} at ${time.slice(11, 16)} UTC`;
  const reset =
    end === undefined
      ? ''
      : period === 'window'
        ? ` Unless more is spent, the budget covers it ${whenFree}.`
        : ` The budget resets ${whenFree}.`;
  const advice = isTemporary
    ? `Running requests reserve $${formatUsd(heldNanoUsd)} of it: retry in a few seconds, when they have finished. Or: ${fix}`
    : `${fix}${reset}`;
  const kind =
    scope === 'run'
      ? 'budget'
      : `${period === 'window' ? `${hours}-hour` : PERIOD_ADJECTIVES[period]} budget`;
  return refuse('insufficient_credits', {
    message: `The ${kind} of $${formatUsd(limitNanoUsd)} of this ${ownerOf(exceeded)} does not cover this request: $${formatUsd(usedNanoUsd)} is used or reserved and the request can cost up to $${formatUsd(estimatedCostNanoUsd)}. ${advice}`,
    metadata: {
      scope,
      limit_type: scope === 'run' ? 'run_budget' : `${PERIOD_ADJECTIVES[period]}_budget`,
      period,
      ...(model !== undefined && { model }),
      ...(hours !== undefined && { hours }),
      ...(end !== undefined && { resets_at: time }),
      limit: usdNumber(limitNanoUsd),
      available: usdNumber(left),
      held: usdNumber(heldNanoUsd),
      estimated_cost: usdNumber(estimatedCostNanoUsd),
      currency: 'USD',
      max_affordable_output_tokens: affordable,
    },
    ...(isTemporary && { retrySoonMs: RETRY_SOON_MS }),
  });
}

/** When the period of a moment ends; undefined for all time. */
function endOfPeriod(period: Exclude<LongPeriod, 'window'>, at: UnixMs): UnixMs | undefined {
  const date = new Date(at);
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()];
  switch (period) {
    case 'week':
      // Sunday is 0, and the last day of its week.
      return Date.UTC(year, month, day + 7 - ((date.getUTCDay() + 6) % 7)) as UnixMs;
    case 'month':
      return Date.UTC(year, month + 1) as UnixMs;
    case 'total':
      return undefined;
    default:
      return unreachable(period);
  }
}

function dailyBudgetExceeded(exceeded: ExceededBudget, at: UnixMs): Refusal {
  const { scope, model, limitNanoUsd, usedNanoUsd, heldNanoUsd, estimatedCostNanoUsd } = exceeded;
  const isTemporary = limitNanoUsd - usedNanoUsd + heldNanoUsd >= estimatedCostNanoUsd;
  const owner = ownerOf(exceeded);
  const untilMidnightMs = msUntilUtcMidnight(at);
  const estimate = formatUsd(estimatedCostNanoUsd);
  const message =
    estimatedCostNanoUsd > limitNanoUsd
      ? `This request alone can cost up to $${estimate}, more than the daily budget of $${formatUsd(limitNanoUsd)} of this ${owner}. Lower max_tokens or raise the budget.`
      : `The daily budget of $${formatUsd(limitNanoUsd)} of this ${owner} does not cover this request: $${formatUsd(usedNanoUsd)} is used or reserved today and the request can cost up to $${estimate}. ${isTemporary ? `Running requests reserve $${formatUsd(heldNanoUsd)} of it: retry in a few seconds, when they have finished.` : 'The budget resets at 00:00 UTC.'}`;
  return refuse('daily_budget_exceeded', {
    message,
    metadata: {
      limit_type: 'daily_budget',
      scope,
      period: 'day',
      ...(model !== undefined && { model }),
      resets_at: new Date(at + untilMidnightMs).toISOString(),
      limit: usdNumber(limitNanoUsd),
      held: usdNumber(heldNanoUsd),
    },
    retryAfterMs: untilMidnightMs,
    ...(isTemporary && { retrySoonMs: RETRY_SOON_MS }),
  });
}
