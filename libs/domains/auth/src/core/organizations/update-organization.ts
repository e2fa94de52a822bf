import type { CancelSignal } from '@gateway/base';
import { MAX_NAME_CHARACTERS, readText, type Actor, type AdminRefusal } from '@gateway/auth-shared';
import { isRefusal } from '@gateway/errors';
import { changeOrganization, type OrganizationPorts } from './change-organization';
import type { Organization } from '../model';

export interface UpdateOrganization {
  readonly actor: Actor;
  readonly organizationId: string;
  /** Absent: it stays. */
  readonly name?: string | undefined;
  readonly expectedVersion?: number | undefined;
}

/** Renames an organization. Its id stays. */
export async function updateOrganization(
  ports: OrganizationPorts,
  { actor, organizationId, name: requestedName, expectedVersion }: UpdateOrganization,
  signal: CancelSignal,
): Promise<Organization | AdminRefusal> {
  const name = requestedName === undefined ? undefined : readText('name', requestedName, MAX_NAME_CHARACTERS);
  if (isRefusal(name)) return name;
  const action = 'organization.update';
  const apply = (current: Organization) => ({ ...current, name: name ?? current.name });
  return changeOrganization(ports, { actor, organizationId, action, expectedVersion, apply }, signal);
}
