import { endpoints, parts } from '@gateway/dashboard-contract';
import { forwardedQuery } from '../http/forwarded-query';
import { implement, type Implementation } from '../http/implement';
import type { DashboardApiPorts } from '../ports';

/** Shorter than the default timeout, since projects can be listed without their spend. */
const SPEND_TIMEOUT_MS = 3_000;

export function createProjectHandlers(ports: DashboardApiPorts): readonly Implementation[] {
  return [
    implement(endpoints.projects.list, async ({ params, query }) => {
      const page = await ports.owners.auth.call(parts.projects, { params, query: forwardedQuery(query) });
      const ids = page.data.map(({ id }) => id);
      const spend = await spendOf(ports, params.organization_id, ids);
      return { ...page, data: page.data.map((each) => ({ ...each, spend: spend.get(each.id) ?? null })) };
    }),
  ];
}

/** What each project has spent, by project id; empty while the ledger is unavailable. */
async function spendOf(
  { owners, log }: Pick<DashboardApiPorts, 'owners' | 'log'>,
  organizationId: string,
  projectIds: string[],
) {
  const request = { params: { organization_id: organizationId }, query: { project_ids: projectIds } };
  const timeout = { timeoutMs: SPEND_TIMEOUT_MS };
  const read = async () =>
    projectIds.length === 0
      ? []
      : (await owners['billing-ledger'].call(parts.projectSpend, request, timeout)).data;
  const spends = await read().catch((error: unknown) => {
    log.warn({ err: error, organizationId }, 'listing projects without their spend');
    return [];
  });
  return new Map(spends.map((spend, index) => [projectIds[index] ?? '', spend]));
}
