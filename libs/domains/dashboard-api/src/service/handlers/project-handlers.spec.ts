import { AdminRefusalReason } from '@gateway/contracts/auth';
import { endpoints } from '@gateway/dashboard-contract';
import type { DashboardApiPorts } from '../ports';
import { createProjectHandlers } from './project-handlers';

const PROJECT = {
  ...{ id: 'proj-1', organizationId: 'org-1', name: 'Website', budgets: undefined },
  ...{ createdUnixMs: 0n, archivedUnixMs: undefined, version: 2 },
};
const REFUSAL = {
  reason: AdminRefusalReason.ADMIN_REFUSAL_REASON_VERSION_CONFLICT,
  ...{ message: 'Stale.', field: undefined, retryAfterMs: undefined },
};

it('returns the current state of a project to the second of two concurrent editors', async () => {
  const listProjects = jest.fn(async (_request: object) => ({ projects: [PROJECT], nextPageToken: '' }));
  const updateProject = async () => ({ outcome: { $case: 'refusal', value: REFUSAL } });
  const handlers = createProjectHandlers({
    authAdmin: { listProjects, updateProject },
  } as unknown as DashboardApiPorts);
  const update = handlers.find(({ endpoint }) => endpoint === endpoints.projects.update);
  const params = { organization_id: 'org-1', project_id: 'proj-1' };
  const body = { name: 'Shop', daily_budget_usd: null, monthly_budget_usd: null, total_budget_usd: null };
  await expect(update?.handler({ params, body: { ...body, version: 1 } } as never)).rejects.toMatchObject({
    code: 'version_conflict',
    metadata: { current: { id: 'proj-1', name: 'Website', version: 2 } },
  });
  expect(listProjects.mock.calls[0]?.[0]).toMatchObject({ organizationId: 'org-1', projectIds: ['proj-1'] });
});
