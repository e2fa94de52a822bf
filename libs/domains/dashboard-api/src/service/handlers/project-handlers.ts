import { pageRequest, pageView } from '@gateway/admin-calls';
import type { Project, ProjectResponse } from '@gateway/contracts/auth';
import { DashboardError, endpoints, parts, EDGE_CHANGE_TIMEOUT_MS } from '@gateway/dashboard-contract';
import { implement, type Implementation } from '../http/implement';
import { projectBudgetsMessage } from '../messages/bodies';
import { unwrap } from '../messages/errors';
import { projectView } from '../messages/views';
import type { DashboardApiPorts } from '../ports';

const ARCHIVED = { active: false, archived: true, all: undefined } as const;
/** Shorter than the default timeout, since projects can be listed without their spend. */
const SPEND_TIMEOUT_MS = 3_000;

interface ProjectTarget {
  readonly organizationId: string;
  readonly projectId: string;
}

export function createProjectHandlers(ports: DashboardApiPorts): readonly Implementation[] {
  const { authAdmin } = ports;
  const { projects } = endpoints;

  const readProject = async ({ organizationId, projectId }: ProjectTarget) => {
    const page = { organizationId, pageSize: 1, pageToken: '', archived: undefined, projectIds: [projectId] };
    return (await authAdmin.listProjects(page)).projects[0];
  };

  return [
    implement(projects.list, async ({ params, query }) => {
      const organizationId = params.organization_id;
      const listed = await authAdmin.listProjects({
        ...{ organizationId, ...pageRequest(query) },
        archived: ARCHIVED[query.state],
        projectIds: query.ids?.split(',') ?? [],
      });
      const spend = await spendOf(
        ports,
        organizationId,
        listed.projects.map(({ id }) => id),
      );
      const data = listed.projects.map((project) => ({
        ...projectView(project),
        spend: spend.get(project.id) ?? null,
      }));
      return pageView(data, listed.nextPageToken);
    }),

    implement(projects.create, async ({ params, body }) => {
      const wanted = {
        organizationId: params.organization_id,
        name: body.name,
        budgets: projectBudgetsMessage(body),
      };
      return { project: viewOf(await authAdmin.createProject(wanted)) };
    }),

    implement(projects.update, async ({ params, body }) => {
      const change = {
        ...{ organizationId: params.organization_id, projectId: params.project_id },
        name: body.name,
        budgets: projectBudgetsMessage(body),
        expectedVersion: body.version,
      };
      const changed = await authAdmin.updateProject(change, { timeoutMs: EDGE_CHANGE_TIMEOUT_MS });
      try {
        return { project: viewOf(changed) };
      } catch (error) {
        if (!(error instanceof DashboardError) || error.code !== 'version_conflict') throw error;
        const current = await readProject(change);
        throw new DashboardError('version_conflict', {
          metadata: { current: current && projectView(current) },
        });
      }
    }),

    implement(projects.archive, async ({ params }) => {
      const target = { organizationId: params.organization_id, projectId: params.project_id };
      return {
        project: viewOf(await authAdmin.archiveProject(target, { timeoutMs: EDGE_CHANGE_TIMEOUT_MS })),
      };
    }),
  ];
}

function viewOf({ outcome }: ProjectResponse) {
  return projectView(unwrap<Project>(outcome));
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
