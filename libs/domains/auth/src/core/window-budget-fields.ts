import type { ProjectBudgets } from './model';

/** Budgets of rolling windows as the audit log shows them; null: none. */
export function windowBudgetFields({ windowBudgets }: ProjectBudgets) {
  return (
    windowBudgets?.map(({ hours, amountNanoUsd }) => ({
      hours,
      amount_nano_usd: amountNanoUsd.toString(),
    })) ?? null
  );
}
