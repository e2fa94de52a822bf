import { matchesModel } from '@gateway/base';
import type { KeyGrant } from '@gateway/contracts/auth';
import { type Budget, BudgetScope } from '@gateway/contracts/common';
import type { ValidatedChatRequest } from '@gateway/public-api';

/** The budgets of a key that a request counts against. Most keys have none that depend on the request. */
export function budgetsFor(
  { budgets }: Pick<KeyGrant, 'budgets'>,
  { model, externalUser = '' }: Pick<ValidatedChatRequest, 'model' | 'externalUser'>,
): Budget[] {
  if (budgets.every((budget) => budget.model === undefined && !isOfEndUsers(budget))) return budgets;
  return budgets
    .filter((budget) => budget.model === undefined || matchesModel(model.id, budget.model))
    .map((budget) => (isOfEndUsers(budget) ? { ...budget, endUser: externalUser } : budget));
}

function isOfEndUsers({ scope }: Budget): boolean {
  return scope === BudgetScope.BUDGET_SCOPE_END_USER;
}
