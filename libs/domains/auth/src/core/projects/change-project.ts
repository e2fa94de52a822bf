import type { CancelSignal } from '@gateway/base';
import { isRefusal } from '@gateway/errors';
import {
  auditOf,
  awaitEdges,
  changedFields,
  checkVersion,
  conflict,
  isIdLike,
  MAX_NAME_CHARACTERS,
  notFound,
  readText,
  type Actor,
  type AdminRefusal,
  type Decision,
} from '@gateway/auth-shared';
import { withChanges, type Changes } from '../changes';
import { checkHasNoEndUsers, checkLimits, checkWithinOrganization } from '../organizations/limits';
import { projectFields } from './project-fields';
import type { Organization, Project, ProjectBudgets } from '../model';
import type { AuthPorts } from '../ports';

type ProjectPorts = Pick<AuthPorts, 'projects' | 'leases' | 'feed' | 'clock' | 'newId'>;

export interface ProjectTarget {
  readonly actor: Actor;
  readonly organizationId: string;
  readonly projectId: string;
}

export interface UpdateProject extends ProjectTarget {
  /** Absent: unchanged. */
  readonly name?: string;
  readonly budgets: Changes<ProjectBudgets>;
  readonly expectedVersion?: number;
}

/** Changes name and budgets. Budgets of its keys that are above the new ones are lowered to them. */
export async function updateProject(
  ports: ProjectPorts,
  request: UpdateProject,
  signal: CancelSignal,
): Promise<Project | AdminRefusal> {
  const { actor, organizationId, projectId } = request;
  const name = request.name === undefined ? undefined : readText('name', request.name, MAX_NAME_CHARACTERS);
  if (isRefusal(name)) return name;
  return changeProject(
    ports,
    request,
    (current, organization) => {
      if (current.archivedAt !== undefined) return conflict('An archived project cannot be changed.');
      const budgets = withChanges(current.budgets, request.budgets);
      const refused =
        checkVersion(current.version, request.expectedVersion) ??
        checkLimits(budgets) ??
        checkHasNoEndUsers(budgets) ??
        checkWithinOrganization(budgets, organization);
      if (refused) return refused;
      const value: Project = {
        ...current,
        name: name ?? current.name,
        budgets,
        version: current.version + 1,
      };
      const before = projectFields(current);
      const after = projectFields(value);
      if (JSON.stringify(before) === JSON.stringify(after)) return { kind: 'unchanged', value: current };
      const details = changedFields(before, after);
      const audit = auditOf(
        { actor, organizationId, action: 'project.update', target: projectId, details },
        ports,
      );
      return { kind: 'change', value, audit };
    },
    signal,
  );
}

/** Archives a project without active keys, permanently. Idempotent. */
export async function archiveProject(
  ports: ProjectPorts,
  target: ProjectTarget,
  signal: CancelSignal,
): Promise<Project | AdminRefusal> {
  const { actor, organizationId, projectId } = target;
  return changeProject(
    ports,
    target,
    (current, _organization, activeKeys) => {
      if (current.archivedAt !== undefined) return { kind: 'unchanged', value: current };
      if (activeKeys > 0) {
        return conflict('The project has keys that are not revoked. Move or revoke them first.');
      }
      const value: Project = { ...current, archivedAt: ports.clock.now(), version: current.version + 1 };
      const details = { name: current.name };
      const audit = auditOf(
        { actor, organizationId, action: 'project.archive', target: projectId, details },
        ports,
      );
      return { kind: 'change', value, audit };
    },
    signal,
  );
}

/** Writes the change that `decide` returns, and resolves once no edge can act on the previous state. */
async function changeProject(
  ports: ProjectPorts,
  { organizationId, projectId }: ProjectTarget,
  decide: (current: Project, organization: Organization, activeKeys: number) => Decision<Project>,
  signal: CancelSignal,
): Promise<Project | AdminRefusal> {
  if (!isIdLike(organizationId) || !isIdLike(projectId)) return notFound('project');
  const committed = await ports.projects.change(organizationId, projectId, decide);
  if (!committed) return notFound('project');
  if (isRefusal(committed)) return committed;
  await awaitEdges(ports, committed.sequence, signal);
  return committed.value;
}
