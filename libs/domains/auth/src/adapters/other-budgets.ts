import { nanoUsd, type BudgetPeriod } from '@gateway/base';
import type { OtherBudget } from '../core/model';

/** An element of the column "other_budgets": JSON has no numbers of this size. */
export type OtherBudgetRow = {
  readonly period: BudgetPeriod;
  readonly hours?: number;
  readonly model?: string;
  readonly per_end_user?: boolean;
  readonly amount_nano_usd: string;
};

export function otherBudgetsOf(rows: readonly OtherBudgetRow[]): OtherBudget[] {
  return rows.map(({ amount_nano_usd: amount, per_end_user: perEndUser, ...budget }) => ({
    ...budget,
    ...(perEndUser && { perEndUser }),
    amountNanoUsd: nanoUsd(BigInt(amount)),
  }));
}

export function otherBudgetRow({ amountNanoUsd, perEndUser, ...budget }: OtherBudget): OtherBudgetRow {
  return { ...budget, ...(perEndUser && { per_end_user: true }), amount_nano_usd: amountNanoUsd.toString() };
}
