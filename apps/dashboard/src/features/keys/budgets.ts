/** The budgets of keys and organizations, with when they reset. */
export const BUDGETS = [
  { field: 'daily_budget_usd', value: 'dailyBudget', label: 'Daily budget', reset: 'Resets at 00:00 UTC.' },
  {
    field: 'monthly_budget_usd',
    value: 'monthlyBudget',
    label: 'Monthly budget',
    reset: 'Resets on the 1st at 00:00 UTC.',
  },
  { field: 'total_budget_usd', value: 'totalBudget', label: 'Total budget', reset: 'Never resets.' },
] as const;

export type BudgetField = (typeof BUDGETS)[number]['field'];
