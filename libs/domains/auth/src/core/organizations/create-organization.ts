import { isRefusal } from '@gateway/errors';
import type { AdminRefusal } from '../admin-refusal';
import { auditOf, organizationFields } from '../audit/audit';
import { checkLimits } from './limits';
import type { Actor, Organization, OrganizationLimits } from '../model';
import type { AuthPorts } from '../ports';
import { MAX_NAME_CHARACTERS, readText } from '../text-rules';

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
