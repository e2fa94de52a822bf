import { implement, pageView, type Implementation } from '@gateway/admin-calls';
import { isIdLike, readPage } from '@gateway/auth-shared';
import { accepted, acceptedOrCurrent } from '@gateway/auth-shared/service';
import { endpoints, parts } from '@gateway/dashboard-contract';
import { withChanges } from '../core/changes';
import type { AuthPorts } from '../core/ports';
import { archiveProject, updateProject } from '../core/projects/change-project';
import { createProject } from '../core/projects/create-project';
import { budgetChangesOf } from './limits';
import { timeEdgeWait, type AuthMetrics } from './metrics';
import { projectView } from './views';

const ARCHIVED = { active: { archived: false }, archived: { archived: true }, all: {} } as const;

export function createProjectEndpoints(
  ports: AuthPorts,
  metrics: Pick<AuthMetrics, 'edgeWaitSeconds'>,
): readonly Implementation[] {
  const { projects } = endpoints;
  return [
    implement(parts.projects, async ({ params: { organization_id: organizationId }, query }) => {
      const ids = query.ids?.split(',').filter(isIdLike);
      const filter = { ...ARCHIVED[query.state], ...(ids && { ids }) };
      const page = await readPage(query.page_size, query.page_token, async (request) =>
        isIdLike(organizationId) ? ports.projects.list(organizationId, request, filter) : [],
      );
      return pageView(page.items.map(projectView), page.nextPageToken);
    }),

    implement(projects.create, async ({ params, body, actor }) => {
      const { organization_id: organizationId } = params;
      const wanted = {
        actor,
        organizationId,
        name: body.name,
        budgets: withChanges({}, budgetChangesOf(body)),
      };
      return { project: projectView(accepted(await createProject(ports, wanted))) };
    }),

    implement(projects.update, async ({ params, body, actor, signal }) => {
      const { organization_id: organizationId, project_id: projectId } = params;
      const change = {
        actor,
        organizationId,
        projectId,
        name: body.name,
        budgets: budgetChangesOf(body),
        expectedVersion: body.version,
      };
      const changed = await timeEdgeWait(metrics, updateProject(ports, change, signal));
      const project = await acceptedOrCurrent(changed, async () => {
        const [current] = await ports.projects.list(organizationId, { size: 1 }, { ids: [projectId] });
        return current && projectView(current);
      });
      return { project: projectView(project) };
    }),

    implement(projects.archive, async ({ params, actor, signal }) => {
      const { organization_id: organizationId, project_id: projectId } = params;
      const archived = archiveProject(ports, { actor, organizationId, projectId }, signal);
      return { project: projectView(accepted(await timeEdgeWait(metrics, archived))) };
    }),
  ];
}
