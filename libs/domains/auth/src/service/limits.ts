import type { NanoUsd } from '@gateway/base';
import type { BodyOf, endpoints } from '@gateway/dashboard-contract';
import type { OrganizationLimits, ProjectBudgets } from '../core/model';

type Nullable<Fields> = { readonly [Name in keyof Fields]?: Fields[Name] | null };

/** Without the fields that are null: an absent limit does not apply. */
export function present<Fields extends object>(fields: Nullable<Fields>): Partial<Fields> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== null && value !== undefined),
  ) as Partial<Fields>;
}

type BudgetFields = {
  readonly [Name in `${'daily' | 'monthly' | 'total'}_budget_usd`]?: NanoUsd | null | undefined;
};

export function budgetsOf(body: BudgetFields): ProjectBudgets {
  return present<ProjectBudgets>({
    dailyBudgetNanoUsd: body.daily_budget_usd,
    monthlyBudgetNanoUsd: body.monthly_budget_usd,
    totalBudgetNanoUsd: body.total_budget_usd,
  });
}

export function limitsOf(
  body: Omit<BodyOf<typeof endpoints.organizations.setLimits>, 'version'>,
): OrganizationLimits {
  return {
    ...budgetsOf(body),
    ...present<OrganizationLimits>({
      requestsPerMinute: body.requests_per_minute,
      tokensPerMinute: body.tokens_per_minute,
      concurrency: body.concurrency,
      maxOutputTokens: body.max_output_tokens,
    }),
    multipleCompletions: body.multiple_completions,
  };
}
