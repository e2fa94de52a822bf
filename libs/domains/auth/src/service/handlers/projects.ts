import type { AuthAdminDefinition, ProjectResponse } from '@gateway/contracts/auth';
import { GatewayError, isRefusal } from '@gateway/errors';
import { actorOf, type RpcHandlers } from '@gateway/rpc';
import { isIdLike, readPage, type AdminRefusal } from '@gateway/auth-shared';
import { refusalMessage } from '@gateway/auth-shared/service';
import { refuseUnlessPermitted, type PermissionPorts } from '@gateway/people';
import type { Project } from '../../core/model';
import type { AuthPorts } from '../../core/ports';
import { archiveProject, updateProject } from '../../core/projects/change-project';
import { createProject } from '../../core/projects/create-project';
import { projectBudgetsOf, projectFilterOf, projectMessage } from '../messages';
import { timeEdgeWait, type AuthMetrics } from '../metrics';

const MAX_PROJECT_IDS = 200;

/** The methods of AuthAdmin for projects. */
export function createProjectHandlers(
  ports: AuthPorts,
  people: PermissionPorts,
  metrics: Pick<AuthMetrics, 'edgeWaitSeconds'>,
): Pick<
  RpcHandlers<typeof AuthAdminDefinition>,
  'listProjects' | 'createProject' | 'updateProject' | 'archiveProject'
> {
  return {
    async listProjects(request) {
      const { organizationId, projectIds } = request;
      if (projectIds.length > MAX_PROJECT_IDS) {
        const message = `project_ids must have at most ${MAX_PROJECT_IDS} entries.`;
        throw new GatewayError('invalid_request', { message, param: 'project_ids' });
      }
      const page = await readPage(request.pageSize, request.pageToken, async (wanted) =>
        isIdLike(organizationId) ? ports.projects.list(organizationId, wanted, projectFilterOf(request)) : [],
      );
      return { projects: page.items.map(projectMessage), nextPageToken: page.nextPageToken };
    },

    async createProject({ organizationId, name, budgets }, context) {
      const actor = actorOf(context);
      const wanted = { actor, organizationId, name, budgets: projectBudgetsOf(budgets) };
      return projectResponse(
        (await refuseUnlessPermitted(people, actor, 'organization:limits', organizationId)) ??
          (await createProject(ports, wanted)),
      );
    },

    async updateProject({ organizationId, projectId, name, budgets, expectedVersion }, context) {
      const actor = actorOf(context);
      const refusal = await refuseUnlessPermitted(people, actor, 'organization:limits', organizationId);
      if (refusal) return projectResponse(refusal);
      const change = {
        ...{ actor, organizationId, projectId, name },
        budgets: projectBudgetsOf(budgets),
        ...(expectedVersion === undefined ? {} : { expectedVersion }),
      };
      return projectResponse(await timeEdgeWait(metrics, updateProject(ports, change, context.signal)));
    },

    async archiveProject({ organizationId, projectId }, context) {
      const actor = actorOf(context);
      const refusal = await refuseUnlessPermitted(people, actor, 'organization:limits', organizationId);
      if (refusal) return projectResponse(refusal);
      const target = { actor, organizationId, projectId };
      return projectResponse(await timeEdgeWait(metrics, archiveProject(ports, target, context.signal)));
    },
  };
}

function projectResponse(result: Project | AdminRefusal): ProjectResponse {
  return isRefusal(result)
    ? { outcome: { $case: 'refusal', value: refusalMessage(result) } }
    : { outcome: { $case: 'project', value: projectMessage(result) } };
}
