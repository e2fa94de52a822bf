import { isRefusal } from '@gateway/errors';
import { type AdminRefusal, auditOf, type Actor, MAX_NAME_CHARACTERS, readText } from '@gateway/auth-shared';
import { organizationFields } from './organization-fields';
import { checkLimits } from './limits';
import type { Organization, OrganizationLimits } from '../model';
import type { AuthPorts } from '../ports';

export interface CreateOrganization {
  readonly actor: Actor;
  readonly name: string;
  /** Absent: the configured defaults. */
  readonly limits?: OrganizationLimits;
}

export async function createOrganization(
  ports: Pick<AuthPorts, 'organizations' | 'clock' | 'newId' | 'settings'>,
  { actor, name: requestedName, limits = ports.settings.defaultOrganizationLimits }: CreateOrganization,
): Promise<Organization | AdminRefusal> {
  const name = readText('name', requestedName, MAX_NAME_CHARACTERS);
  if (isRefusal(name)) return name;
  const refusal = checkLimits(limits);
  if (refusal) return refusal;
  const organization: Organization = {
    id: ports.newId('org'),
    name,
    suspended: false,
    limits,
    createdAt: ports.clock.now(),
    version: 1,
  };
  const audit = auditOf(
    {
      actor,
      organizationId: organization.id,
      action: 'organization.create',
      target: organization.id,
      details: organizationFields(organization),
    },
    ports,
  );
  await ports.organizations.insert(organization, audit);
  return organization;
}
