import { type Budget, BudgetPeriod, BudgetScope } from '@gateway/contracts/common';
import { budgetsFor } from './budgets-for';

const budget = (changes: Partial<Budget>): Budget => ({
  scope: BudgetScope.BUDGET_SCOPE_KEY,
  ownerId: 'key-1',
  period: BudgetPeriod.BUDGET_PERIOD_DAY,
  amountNanoUsd: 1n,
  ...changes,
});
const perUser = budget({ scope: BudgetScope.BUDGET_SCOPE_END_USER });
const of = (budgets: Budget[], id = 'acme/m-1', externalUser?: string) =>
  budgetsFor({ budgets }, { model: { id } as never, ...(externalUser !== undefined && { externalUser }) });

it('keeps the list of the grant where no budget depends on the request', () => {
  const budgets = [budget({}), budget({ period: BudgetPeriod.BUDGET_PERIOD_TOTAL })];
  expect(of(budgets)).toBe(budgets);
});

it.each([
  ['acme/m-1', true],
  ['acme/m', false],
  ['acme/m-10', false],
  ['acme/*', true],
  ['acme/m-1*', true],
  ['*', true],
  ['other/*', false],
])('applies a budget for %s: %s', (model, applies) => {
  expect(of([budget({}), budget({ model })])).toEqual([budget({}), ...(applies ? [budget({ model })] : [])]);
});

it('names the end user of the request, or none', () => {
  expect(of([perUser], 'acme/m', 'alice')).toEqual([{ ...perUser, endUser: 'alice' }]);
  expect(of([perUser])).toEqual([{ ...perUser, endUser: '' }]);
});
