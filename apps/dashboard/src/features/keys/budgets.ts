/** The budgets of keys and organizations, with when they reset. */
export const BUDGETS = [
  {
    field: 'daily_budget_usd',
    spend: 'today_usd',
    value: 'dailyBudget',
    label: 'Daily budget',
    reset: 'Resets at 00:00 UTC.',
  },
  {
    field: 'weekly_budget_usd',
    spend: 'this_week_usd',
    value: 'weeklyBudget',
    label: 'Weekly budget',
    reset: 'Resets on Mondays at 00:00 UTC.',
  },
  {
    field: 'monthly_budget_usd',
    spend: 'this_month_usd',
    value: 'monthlyBudget',
    label: 'Monthly budget',
    reset: 'Resets on the 1st at 00:00 UTC.',
  },
  {
    field: 'total_budget_usd',
    spend: 'total_usd',
    value: 'totalBudget',
    label: 'Total budget',
    reset: 'Never resets.',
  },
] as const;

/** What the limits count, and what happens above them. */
export const LIMIT_EFFECTS = {
  requests_per_minute: 'Further requests of the minute get 429.',
  tokens_per_minute: 'Counts input and max_tokens of each request. Further requests of the minute get 429.',
  concurrency: 'Further requests get 429. A stream counts until it finishes.',
} as const;

export type BudgetField = (typeof BUDGETS)[number]['field'];
