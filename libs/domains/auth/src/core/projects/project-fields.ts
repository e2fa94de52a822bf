import { otherBudgetFields } from '../other-budget-fields';
import type { JsonObject } from '@gateway/auth-shared';
import type { Project } from '../model';

/** A project as the audit log shows it. */
export function projectFields({ name, budgets }: Project): JsonObject {
  return {
    name,
    daily_budget_nano_usd: budgets.dailyBudgetNanoUsd?.toString() ?? null,
    weekly_budget_nano_usd: budgets.weeklyBudgetNanoUsd?.toString() ?? null,
    monthly_budget_nano_usd: budgets.monthlyBudgetNanoUsd?.toString() ?? null,
    total_budget_nano_usd: budgets.totalBudgetNanoUsd?.toString() ?? null,
    other_budgets: otherBudgetFields(budgets),
  };
}
