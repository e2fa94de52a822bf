import { NO_TARGET_RULES } from '@gateway/base';
import { isRefusal } from '@gateway/errors';
import { type AdminRefusal, auditOf, type Actor, MAX_NAME_CHARACTERS, readText } from '@gateway/auth-shared';
import { organizationFields } from './organization-fields';
import { checkLimits, checkWithinCeilings, initialCeilings, lowerToCeilings } from './limits';
import type { Organization, OrganizationLimits } from '../model';
import type { AuthPorts } from '../ports';

export interface CreateOrganization {
  readonly actor: Actor;
  readonly name: string;
  /** Absent: the configured defaults, lowered to the ceilings. */
  readonly limits?: OrganizationLimits;
  /** Absent: the configured default limits, or `limits` where they are above. No multiple completions. */
  readonly ceilings?: OrganizationLimits;
}

export async function createOrganization(
  ports: Pick<AuthPorts, 'organizations' | 'clock' | 'newId' | 'settings'>,
  { actor, name: requestedName, limits: requestedLimits, ceilings: requestedCeilings }: CreateOrganization,
): Promise<Organization | AdminRefusal> {
  const name = readText('name', requestedName, MAX_NAME_CHARACTERS);
  if (isRefusal(name)) return name;
  const { defaultOrganizationLimits: defaults } = ports.settings;
  const ceilings = requestedCeilings ?? initialCeilings(defaults, requestedLimits);
  const limits = requestedLimits ?? lowerToCeilings(defaults, ceilings);
  const refusal = checkLimits(limits) ?? checkLimits(ceilings) ?? checkWithinCeilings(limits, ceilings);
  if (refusal) return refusal;
  const organization: Organization = {
    id: ports.newId('org'),
    name,
    suspended: false,
    requiresSecondFactor: false,
    targetRules: NO_TARGET_RULES,
    elasticHolds: false,
    limits,
    ceilings,
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
