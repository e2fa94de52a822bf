import { nanoUsd } from '@gateway/base';
import type { BudgetOwner, BudgetsDefinition } from '@gateway/contracts/auth';
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

function budgetsOf({ ownerId, name, ...amounts }: BudgetOwner): Budget[] {
  const periods = [
    ['day', amounts.dailyBudgetNanoUsd],
    ['month', amounts.monthlyBudgetNanoUsd],
    ['total', amounts.totalBudgetNanoUsd],
  ] as const;
  return periods.flatMap(([period, amount]) =>
    amount === undefined ? [] : [{ ownerId, ownerName: name, period, amountNanoUsd: nanoUsd(amount) }],
  );
}
