import { NO_TARGET_RULES } from '@gateway/base';
import { isRefusal } from '@gateway/errors';
import { type AdminRefusal, auditOf, type Actor, MAX_NAME_CHARACTERS, readText } from '@gateway/auth-shared';
import { withChanges, type Changes } from '../changes';
import { organizationFields } from './organization-fields';
import { checkLimits, checkWithinCeilings, initialCeilings, lowerToCeilings } from './limits';
import type { Organization, OrganizationLimits } from '../model';
import type { AuthPorts } from '../ports';

export interface CreateOrganization {
  readonly actor: Actor;
  readonly name: string;
  /** Changes of the configured defaults, lowered to the ceilings. */
  readonly limits?: Changes<OrganizationLimits>;
  /** Changes of the configured default limits, or of `limits` where they are above. No multiple completions. */
  readonly ceilings?: Changes<OrganizationLimits>;
}

export async function createOrganization(
  ports: Pick<AuthPorts, 'organizations' | 'clock' | 'newId' | 'settings'>,
  {
    actor,
    name: requestedName,
    limits: limitChanges = {},
    ceilings: ceilingChanges = {},
  }: CreateOrganization,
): Promise<Organization | AdminRefusal> {
  const name = readText('name', requestedName, MAX_NAME_CHARACTERS);
  if (isRefusal(name)) return name;
  const { defaultOrganizationLimits: defaults } = ports.settings;
  const defaultCeilings = initialCeilings(defaults, withChanges(defaults, limitChanges));
  const ceilings = withChanges(defaultCeilings, ceilingChanges);
  const limits = withChanges(lowerToCeilings(defaults, ceilings), limitChanges);
  const refusal = checkLimits(limits) ?? checkLimits(ceilings) ?? checkWithinCeilings(limits, ceilings);
  if (refusal) return refusal;
  const organization: Organization = {
    id: ports.newId('org'),
    name,
    suspended: false,
    requiresSecondFactor: false,
    targetRules: NO_TARGET_RULES,
    elasticHolds: false,
    usageTags: [],
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
