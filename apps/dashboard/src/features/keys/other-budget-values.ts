import { readAmount } from '../../format/money';
import { budgetError, parseLimit } from './limit-values';

/** A budget without a field of its own, of the API. */
export interface OtherBudget {
  readonly period: 'day' | 'week' | 'month' | 'total' | 'window';
  /** The length of a window; 0 for other periods. */
  readonly hours: number;
  readonly model?: string;
  readonly per_end_user?: boolean;
  readonly amount_usd: string;
}

/** What counts against a budget. */
export type Counted = 'all' | 'model' | 'end_user';

/** As typed. */
export interface OtherBudgetValue {
  readonly counted: Counted;
  readonly model: string;
  readonly period: OtherBudget['period'];
  readonly hours: string;
  readonly amount: string;
}

export const MAX_OTHER_BUDGETS = 20;
const MAX_HOURS = 744;

export const NEW_OTHER_BUDGET: OtherBudgetValue = {
  counted: 'all',
  model: '',
  period: 'window',
  hours: '24',
  amount: '',
};

export const otherBudgetValuesOf = (budgets: readonly OtherBudget[]): OtherBudgetValue[] =>
  budgets.map(({ period, hours, model, per_end_user, amount_usd }) => ({
    counted: per_end_user ? 'end_user' : model === undefined ? 'all' : 'model',
    model: model ?? '',
    period,
    hours: hours ? hours.toString() : NEW_OTHER_BUDGET.hours,
    amount: amount_usd,
  }));

export const otherBudgetsBodyOf = (values: readonly OtherBudgetValue[]): OtherBudget[] =>
  values.map(({ counted, model, period, hours, amount }) => ({
    period,
    hours: period === 'window' ? (parseLimit(hours) ?? 0) : 0,
    ...(counted === 'model' && { model: model.trim() }),
    ...(counted === 'end_user' && { per_end_user: true }),
    amount_usd: readAmount(amount),
  }));

export function otherBudgetsError(values: readonly OtherBudgetValue[]): string | undefined {
  const budgets = otherBudgetsBodyOf(values);
  const windows = budgets.filter(({ period }) => period === 'window');
  if (!windows.every(({ hours }) => Number.isInteger(hours) && hours >= 1 && hours <= MAX_HOURS))
    return `Enter 1 to ${MAX_HOURS} hours.`;
  if (budgets.some(({ model }) => model === ''))
    return 'Enter the ID of a model, or its start and an asterisk.';
  const names = budgets.map(({ amount_usd: _, ...budget }) => JSON.stringify(budget));
  if (new Set(names).size < names.length) return 'Two of these budgets are for the same period.';
  if (values.some(({ amount }) => amount.trim() === '')) return 'Enter an amount above 0.';
  return values.map(({ amount }) => budgetError(amount, null)).find((error) => error !== undefined);
}

const PERIODS: Readonly<Record<Exclude<OtherBudget['period'], 'window'>, string>> = {
  day: 'Daily',
  week: 'Weekly',
  month: 'Monthly',
  total: 'Total',
};

/** Such as "Monthly budget for acme/*". */
export function otherBudgetName({ period, hours, model, per_end_user }: OtherBudget): string {
  const name = `${period === 'window' ? `${hours}-hour` : PERIODS[period]} budget`;
  if (per_end_user) return `${name} of each end user`;
  return model === undefined ? name : `${name} for ${model}`;
}
