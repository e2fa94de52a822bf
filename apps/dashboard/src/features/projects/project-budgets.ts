/** The budgets of a project, with the spend that counts against each. */
export const PROJECT_BUDGETS = [
  { id: 'day', label: 'Spent today', spend: 'today_usd', budget: 'daily_budget_usd' },
  { id: 'week', label: 'Spent this week', spend: 'this_week_usd', budget: 'weekly_budget_usd' },
  { id: 'month', label: 'Spent this month', spend: 'this_month_usd', budget: 'monthly_budget_usd' },
  { id: 'total', label: 'Spent in total', spend: 'total_usd', budget: 'total_budget_usd' },
] as const;
