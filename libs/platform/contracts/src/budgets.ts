import { enumNames } from './enum-names';
import { BudgetPeriod, BudgetScope } from './generated/gateway/common/v1/budget';

const scopes = enumNames({
  run: BudgetScope.BUDGET_SCOPE_RUN,
  end_user: BudgetScope.BUDGET_SCOPE_END_USER,
  key: BudgetScope.BUDGET_SCOPE_KEY,
  project: BudgetScope.BUDGET_SCOPE_PROJECT,
  organization: BudgetScope.BUDGET_SCOPE_ORGANIZATION,
});

const periods = enumNames({
  day: BudgetPeriod.BUDGET_PERIOD_DAY,
  week: BudgetPeriod.BUDGET_PERIOD_WEEK,
  month: BudgetPeriod.BUDGET_PERIOD_MONTH,
  window: BudgetPeriod.BUDGET_PERIOD_WINDOW,
  total: BudgetPeriod.BUDGET_PERIOD_TOTAL,
});

export const { messageOf: budgetScopeMessage, nameOf: budgetScopeOf } = scopes;
export const { messageOf: budgetPeriodMessage, nameOf: budgetPeriodOf } = periods;
