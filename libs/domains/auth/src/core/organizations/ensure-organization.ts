import type { Actor, AdminRefusal } from '@gateway/auth-shared';
import type { Changes } from '../changes';
import type { Organization, OrganizationLimits } from '../model';
import { createOrganization } from './create-organization';
import type { AuthPorts } from '../ports';

const PAGE_SIZE = 100;

const NO_CEILINGS: Required<Changes<OrganizationLimits>> = {
  requestsPerMinute: null,
  tokensPerMinute: null,
  concurrency: null,
  dailyBudgetNanoUsd: null,
  weeklyBudgetNanoUsd: null,
  monthlyBudgetNanoUsd: null,
  totalBudgetNanoUsd: null,
  otherBudgets: null,
  maxOutputTokens: null,
  multipleCompletions: false,
};

/** The newest organization with this name, or a new one without ceilings: people who try the gateway choose its limits. */
export async function ensureOrganization(
  ports: Pick<AuthPorts, 'organizations' | 'clock' | 'newId' | 'settings'>,
  actor: Actor,
  name: string,
): Promise<Organization | AdminRefusal> {
  for (let after: string | undefined; ;) {
    const page = { size: PAGE_SIZE, ...(after !== undefined && { after }) };
    const organizations = await ports.organizations.list(page, { search: name });
    const found = organizations.find((organization) => organization.name === name);
    if (found) return found;
    if (organizations.length < PAGE_SIZE)
      return createOrganization(ports, { actor, name, ceilings: NO_CEILINGS });
    after = organizations.at(-1)?.id;
  }
}
