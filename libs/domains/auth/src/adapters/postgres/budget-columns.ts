import { otherBudgetsOf, type OtherBudgetRow } from '../other-budgets';
import { nanoUsd, type Budget, type BudgetPeriod, type BudgetScope } from '@gateway/base';

/** The column with the amount of each period. */
const COLUMNS: readonly (readonly [BudgetPeriod, string])[] = [
  ['day', 'daily_budget_nano_usd'],
  ['week', 'weekly_budget_nano_usd'],
  ['month', 'monthly_budget_nano_usd'],
  ['total', 'total_budget_nano_usd'],
];

/** As selected below: one amount per column. */
export type BudgetAmounts = readonly (bigint | null)[];

/** Selects the budgets of a key or project as an array. */
export function budgetColumns(table: string): string {
  return `array[${COLUMNS.map(([, column]) => `${table}.${column}`).join(', ')}]`;
}

/** Selects the budgets of an organization as an array. A ceiling applies where there is no limit. */
export function effectiveBudgetColumns(table: string): string {
  const amounts = COLUMNS.map(([, column]) => `coalesce(${table}.${column}, ${table}.ceiling_${column})`);
  return `array[${amounts.join(', ')}]`;
}

export function budgetsOf(scope: BudgetScope, ownerId: string, amounts: BudgetAmounts): Budget[] {
  return COLUMNS.flatMap(([period], index) => {
    const amount = amounts[index] ?? undefined;
    return amount === undefined ? [] : [{ scope, ownerId, period, amountNanoUsd: nanoUsd(amount) }];
  });
}

/** The budgets of the column "other_budgets". */
export function budgetsOfRows(
  scope: BudgetScope,
  ownerId: string,
  rows: readonly OtherBudgetRow[] | null,
): Budget[] {
  return otherBudgetsOf(rows ?? []).map(({ perEndUser, ...budget }) => ({
    ...budget,
    scope: perEndUser ? 'end_user' : scope,
    ownerId,
  }));
}
