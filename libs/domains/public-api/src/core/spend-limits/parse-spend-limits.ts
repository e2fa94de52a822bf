import { type NanoUsd, parseUsd } from '@gateway/base';
import { isRefusal, type Refusal, refuse } from '@gateway/errors';

/** What a request, and the run that it belongs to, may cost, as its headers say. */
export interface SpendLimits {
  /** The maximum cost of this request. */
  readonly maxCostNanoUsd?: NanoUsd;
  readonly run?: Run;
}

/** Requests of a key, or of the keys of a project, that share a budget. */
export interface Run {
  readonly id: string;
  /** Fixed by the run's first request; ignored afterwards. */
  readonly budgetNanoUsd?: NanoUsd;
}

export const MAX_COST_HEADER = 'x-max-cost-usd';
export const RUN_ID_HEADER = 'x-run-id';
export const RUN_BUDGET_HEADER = 'x-run-budget-usd';

/** Visible ASCII. */
export const RUN_ID_PATTERN = /^[\x21-\x7e]{1,128}$/;

/** Amounts of the headers, in US dollars: up to nine digits after the point, no sign, no exponent. */
export const USD_PATTERN = /^\d{1,7}(\.\d{1,9})?$/;

export const SPEND_LIMIT_HEADERS = [MAX_COST_HEADER, RUN_ID_HEADER, RUN_BUDGET_HEADER] as const;

/** Every value that was sent with a header, by its name in lower case. */
type HeaderValues = Readonly<Record<string, readonly string[] | undefined>>;

/** @returns `invalid_request` with the name of the first invalid header as its param. */
export function parseSpendLimits(headers: HeaderValues): SpendLimits | Refusal {
  const { [MAX_COST_HEADER]: maxCosts, [RUN_ID_HEADER]: runIds, [RUN_BUDGET_HEADER]: budgets } = headers;
  const maxCostNanoUsd = parseAmount(MAX_COST_HEADER, maxCosts);
  if (isRefusal(maxCostNanoUsd)) return maxCostNanoUsd;
  const run = parseRun(runIds, budgets);
  if (isRefusal(run)) return run;
  return { maxCostNanoUsd, ...(run && { run }) };
}

function parseRun(
  ids: readonly string[] | undefined,
  budgets: readonly string[] | undefined,
): Run | Refusal | undefined {
  const budgetNanoUsd = parseAmount(RUN_BUDGET_HEADER, budgets);
  if (!ids) {
    if (!budgets) return undefined;
    return invalid(RUN_ID_HEADER, `is missing: ${RUN_BUDGET_HEADER} needs it.`);
  }
  const [id = ''] = ids;
  if (ids.length !== 1 || !RUN_ID_PATTERN.test(id)) {
    return invalid(RUN_ID_HEADER, 'must be sent once, with 1 to 128 visible ASCII characters.');
  }
  if (isRefusal(budgetNanoUsd)) return budgetNanoUsd;
  return { id, budgetNanoUsd };
}

function parseAmount(name: string, values: readonly string[] | undefined): NanoUsd | Refusal | undefined {
  if (!values) return undefined;
  const [text = ''] = values;
  const amount = values.length === 1 && USD_PATTERN.test(text) ? parseUsd(text) : undefined;
  if (amount !== undefined && amount > 0n) return amount;
  return invalid(name, 'must be sent once, with an amount of US dollars above zero such as 0.25.');
}

function invalid(header: string, problem: string): Refusal {
  return refuse('invalid_request', { message: `The header ${header} ${problem}`, param: header });
}
