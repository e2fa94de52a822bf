import { isRefusal } from '@gateway/errors';
import {
  auditOf,
  conflict,
  isIdLike,
  MAX_NAME_CHARACTERS,
  notFound,
  readText,
  type Actor,
  type AdminRefusal,
} from '@gateway/auth-shared';
import { checkHasNoEndUsers, checkLimits, checkWithinOrganization } from '../organizations/limits';
import { projectFields } from './project-fields';
import type { Project, ProjectBudgets } from '../model';
import type { AuthPorts } from '../ports';

/** As many as one page of a list has, so that a page can offer all of them. */
const MAX_PROJECTS = 200;

export interface CreateProject {
  readonly actor: Actor;
  readonly organizationId: string;
  readonly name: string;
  readonly budgets: ProjectBudgets;
}

export async function createProject(
  ports: Pick<AuthPorts, 'projects' | 'clock' | 'newId'>,
  { actor, organizationId, name: requestedName, budgets }: CreateProject,
): Promise<Project | AdminRefusal> {
  if (!isIdLike(organizationId)) return notFound('organization');
  const name = readText('name', requestedName, MAX_NAME_CHARACTERS);
  if (isRefusal(name)) return name;
  const refusal = checkLimits(budgets) ?? checkHasNoEndUsers(budgets);
  if (refusal) return refusal;
  const id = ports.newId('proj');
  const createdAt = ports.clock.now();
  const created = await ports.projects.insert(organizationId, (organization, projects) => {
    if (projects >= MAX_PROJECTS) {
      return conflict(`An organization has at most ${MAX_PROJECTS} projects. Archive one first.`);
    }
    const aboveOrganization = checkWithinOrganization(budgets, organization);
    if (aboveOrganization) return aboveOrganization;
    const value: Project = { id, organizationId, name, budgets, createdAt, version: 1 };
    const details = projectFields(value);
    const audit = auditOf({ actor, organizationId, action: 'project.create', target: id, details }, ports);
    return { kind: 'change', value, audit };
  });
  return created ?? notFound('organization');
}
