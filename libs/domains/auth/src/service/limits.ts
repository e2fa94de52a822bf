import type { NanoUsd } from '@gateway/base';
import type { BodyOf, endpoints } from '@gateway/dashboard-contract';
import type { Changes } from '../core/changes';
import type { OrganizationLimits, ProjectBudgets } from '../core/model';

type BudgetFields = {
  readonly [Name in `${'daily' | 'weekly' | 'monthly' | 'total'}_budget_usd`]?: NanoUsd | null | undefined;
} & {
  readonly budgets?: readonly { readonly hours: number; readonly amount_usd: NanoUsd }[] | null | undefined;
};

export function budgetChangesOf(body: BudgetFields): Changes<ProjectBudgets> {
  return {
    dailyBudgetNanoUsd: body.daily_budget_usd,
    weeklyBudgetNanoUsd: body.weekly_budget_usd,
    monthlyBudgetNanoUsd: body.monthly_budget_usd,
    totalBudgetNanoUsd: body.total_budget_usd,
    windowBudgets: body.budgets && (body.budgets.length === 0 ? null : body.budgets.map(windowBudgetOf)),
  };
}

const windowBudgetOf = ({ hours, amount_usd: amountNanoUsd }: { hours: number; amount_usd: NanoUsd }) => ({
  hours,
  amountNanoUsd,
});

export function limitChangesOf(
  body: Omit<BodyOf<typeof endpoints.organizations.setLimits>, 'version'>,
): Changes<OrganizationLimits> {
  return {
    ...budgetChangesOf(body),
    requestsPerMinute: body.requests_per_minute,
    tokensPerMinute: body.tokens_per_minute,
    concurrency: body.concurrency,
    maxOutputTokens: body.max_output_tokens,
    multipleCompletions: body.multiple_completions,
  };
}
