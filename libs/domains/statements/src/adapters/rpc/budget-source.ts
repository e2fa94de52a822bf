import { nanoUsd } from '@gateway/base';
import type { BudgetOwner, BudgetsDefinition } from '@gateway/contracts/auth';
import { budgetPeriodOf, BudgetScope } from '@gateway/contracts/common';
import type { RpcClient } from '@gateway/rpc';
import type { Budget } from '../../core/budget-alert';
import type { BudgetSource } from '../../core/ports';

/** Pages of 1,000 owners: further keys of an organization have no alerts. */
const MAX_PAGES = 20;

/** Reads budgets from auth. */
export function createBudgetSource(auth: RpcClient<typeof BudgetsDefinition>): BudgetSource {
  return {
    async list(organizationId) {
      const budgets: Budget[] = [];
      const emails: string[] = [];
      let pageToken = '';
      for (let page = 0; page < MAX_PAGES; page += 1) {
        const response = await auth.listBudgets({ organizationId, pageToken });
        budgets.push(...response.owners.flatMap(budgetsOf));
        emails.push(...response.emails);
        pageToken = response.nextPageToken;
        if (pageToken === '') break;
      }
      return { budgets, emails };
    },
  };
}

/** Without budgets for a period that only a newer version has. */
function budgetsOf({ ownerId, name, budgets }: BudgetOwner): Budget[] {
  return budgets.flatMap((budget) => {
    const period = budgetPeriodOf(budget.period);
    const { hours, model, scope } = budget;
    const perEndUser = scope === BudgetScope.BUDGET_SCOPE_END_USER;
    const amountNanoUsd = nanoUsd(budget.amountNanoUsd);
    return period ? [{ ownerId, ownerName: name, period, hours, model, amountNanoUsd, perEndUser }] : [];
  });
}
