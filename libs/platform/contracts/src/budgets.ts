import { BudgetPeriod, BudgetScope } from './generated/gateway/common/v1/budget';

/** The name of each scope and period in the domains, one row per value. */
const SCOPES = {
  run: BudgetScope.BUDGET_SCOPE_RUN,
  end_user: BudgetScope.BUDGET_SCOPE_END_USER,
  key: BudgetScope.BUDGET_SCOPE_KEY,
  project: BudgetScope.BUDGET_SCOPE_PROJECT,
  organization: BudgetScope.BUDGET_SCOPE_ORGANIZATION,
} as const;

const PERIODS = {
  day: BudgetPeriod.BUDGET_PERIOD_DAY,
  week: BudgetPeriod.BUDGET_PERIOD_WEEK,
  month: BudgetPeriod.BUDGET_PERIOD_MONTH,
  window: BudgetPeriod.BUDGET_PERIOD_WINDOW,
  total: BudgetPeriod.BUDGET_PERIOD_TOTAL,
} as const;

type Scope = keyof typeof SCOPES;
type Period = keyof typeof PERIODS;

const SCOPE_NAMES = namesOf<BudgetScope, Scope>(SCOPES);
const PERIOD_NAMES = namesOf<BudgetPeriod, Period>(PERIODS);

export const budgetScopeMessage = (scope: Scope): BudgetScope => SCOPES[scope];
export const budgetPeriodMessage = (period: Period): BudgetPeriod => PERIODS[period];

/** Undefined for a scope that only a newer version has. */
export const budgetScopeOf = (scope: BudgetScope): Scope | undefined => SCOPE_NAMES.get(scope);
/** Undefined for a period that only a newer version has. */
export const budgetPeriodOf = (period: BudgetPeriod): Period | undefined => PERIOD_NAMES.get(period);

function namesOf<Value, Name extends string>(
  values: Readonly<Record<Name, Value>>,
): ReadonlyMap<Value, Name> {
  return new Map((Object.entries(values) as [Name, Value][]).map(([name, value]) => [value, name]));
}
