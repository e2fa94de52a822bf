import { readAmount } from '../../format/money';
import { budgetError, parseLimit } from './limit-values';

/** A budget of a rolling window of the API. */
export interface WindowBudget {
  readonly period: 'window';
  readonly hours: number;
  readonly amount_usd: string;
}

/** As typed. */
export interface WindowValue {
  readonly hours: string;
  readonly amount: string;
}

export const MAX_WINDOWS = 5;
const MAX_HOURS = 744;

export const windowValuesOf = (budgets: readonly WindowBudget[]): WindowValue[] =>
  budgets.map(({ hours, amount_usd }) => ({ hours: hours.toString(), amount: amount_usd }));

export const windowsBodyOf = (values: readonly WindowValue[]): WindowBudget[] =>
  values.map(({ hours, amount }) => ({
    period: 'window',
    hours: parseLimit(hours) ?? 0,
    amount_usd: readAmount(amount),
  }));

export function windowsError(values: readonly WindowValue[]): string | undefined {
  const hours = values.map((value) => parseLimit(value.hours) ?? 0);
  if (!hours.every((each) => Number.isInteger(each) && each >= 1 && each <= MAX_HOURS))
    return `Enter 1 to ${MAX_HOURS} hours.`;
  if (new Set(hours).size < hours.length) return 'Two windows have the same length.';
  if (values.some(({ amount }) => amount.trim() === '')) return 'Enter an amount above 0.';
  return values.map(({ amount }) => budgetError(amount, null)).find((error) => error !== undefined);
}
