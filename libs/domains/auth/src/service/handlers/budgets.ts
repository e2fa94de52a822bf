import { hasPermission, ORGANIZATION_ROLES } from '@gateway/base';
import type { BudgetsDefinition } from '@gateway/contracts/auth';
import type { RpcHandlers } from '@gateway/rpc';
import type { AuthPorts } from '../../core/ports';
import { budgetMessage } from '../messages';

const MAX_OWNERS = 1_000;
const MAX_EMAILS = 50;

/** The roles that may change the alerts about credit get those about budgets. */
const ALERTED_ROLES = ORGANIZATION_ROLES.filter((organizationRole) =>
  hasPermission({ memberRole: 'member', organizationRole }, 'credit:alerts'),
);

/** The service that the ledger calls for its alerts. */
export function createBudgetHandlers({
  budgets,
}: Pick<AuthPorts, 'budgets'>): RpcHandlers<typeof BudgetsDefinition> {
  return {
    async listBudgets({ organizationId, pageToken }) {
      const after = pageToken === '' ? undefined : pageToken;
      const found = await budgets.listOwners(organizationId, after, MAX_OWNERS + 1);
      const owners = found.slice(0, MAX_OWNERS);
      return {
        owners: owners.map(({ budgets: limits, ...owner }) => ({
          ...owner,
          budgets: limits.map(budgetMessage),
        })),
        nextPageToken: found.length > MAX_OWNERS ? (owners.at(-1)?.ownerId ?? '') : '',
        emails:
          after === undefined
            ? [...(await budgets.listEmails(organizationId, ALERTED_ROLES, MAX_EMAILS))]
            : [],
      };
    },

    async getOrganizationName({ organizationId }) {
      return { name: (await budgets.nameOf(organizationId)) ?? '' };
    },

    async listTimeZones({ emails }) {
      return { timeZones: await budgets.timeZonesOf(emails.slice(0, MAX_EMAILS)) };
    },
  };
}
