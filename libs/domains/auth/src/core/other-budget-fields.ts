import type { ProjectBudgets } from './model';

/** Budgets without a field of their own as the audit log shows them; null: none. */
export function otherBudgetFields({ otherBudgets }: ProjectBudgets) {
  return (
    otherBudgets?.map(({ period, hours, model, perEndUser, amountNanoUsd }) => ({
      period,
      ...(hours !== undefined && { hours }),
      ...(model !== undefined && { model }),
      ...(perEndUser && { per_end_user: true }),
      amount_nano_usd: amountNanoUsd.toString(),
    })) ?? null
  );
}
