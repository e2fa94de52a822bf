import type { BudgetPeriod, NanoUsd } from '@gateway/base';
import type { BodyOf, endpoints } from '@gateway/dashboard-contract';
import type { Changes } from '../core/changes';
import type { OrganizationLimits, OtherBudget, ProjectBudgets } from '../core/model';

interface OtherBudgetFields {
  readonly period: BudgetPeriod;
  readonly hours?: number | undefined;
  readonly model?: string | undefined;
  readonly per_end_user?: boolean | undefined;
  readonly amount_usd: NanoUsd;
}

type BudgetFields = {
  readonly [Name in `${'daily' | 'weekly' | 'monthly' | 'total'}_budget_usd`]?: NanoUsd | null | undefined;
} & {
  readonly budgets?: readonly OtherBudgetFields[] | null | undefined;
};

export function budgetChangesOf(body: BudgetFields): Changes<ProjectBudgets> {
  return {
    dailyBudgetNanoUsd: body.daily_budget_usd,
    weeklyBudgetNanoUsd: body.weekly_budget_usd,
    monthlyBudgetNanoUsd: body.monthly_budget_usd,
    totalBudgetNanoUsd: body.total_budget_usd,
    otherBudgets: body.budgets && (body.budgets.length === 0 ? null : body.budgets.map(otherBudgetOf)),
  };
}

function otherBudgetOf(fields: OtherBudgetFields): OtherBudget {
  const { period, hours, model, per_end_user: perEndUser, amount_usd: amountNanoUsd } = fields;
  return {
    period,
    ...(hours && { hours }),
    ...(model !== undefined && { model }),
    ...(perEndUser && { perEndUser }),
    amountNanoUsd,
  };
}

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
