import { nanoUsd } from '@gateway/base';
import type { WindowBudget } from '../core/model';

/** An element of the column "window_budgets": JSON has no numbers of this size. */
export type WindowBudgetRow = { readonly hours: number; readonly amount_nano_usd: string };

export function windowBudgetsOf(rows: readonly WindowBudgetRow[]): WindowBudget[] {
  return rows.map(({ hours, amount_nano_usd: amount }) => ({
    hours,
    amountNanoUsd: nanoUsd(BigInt(amount)),
  }));
}

export function windowBudgetRow({ hours, amountNanoUsd }: WindowBudget): WindowBudgetRow {
  return { hours, amount_nano_usd: amountNanoUsd.toString() };
}
