import type { CancelSignal } from '@gateway/base';
import type { AdminRefusal, Actor } from '@gateway/auth-shared';
import { changeOrganization, type OrganizationPorts } from './change-organization';
import { checkLimits, checkWithinCeilings, lowerToCeilings } from './limits';
import type { Organization, OrganizationLimits } from '../model';

export interface SetOrganizationLimits {
  readonly actor: Actor;
  readonly organizationId: string;
  readonly limits: OrganizationLimits;
  readonly expectedVersion?: number;
}

/** Replaces all limits. Limits of keys that are above the new ones are lowered to them. */
export async function setOrganizationLimits(
  ports: OrganizationPorts,
  { limits, ...change }: SetOrganizationLimits,
  signal: CancelSignal,
): Promise<Organization | AdminRefusal> {
  const refusal = checkLimits(limits);
  if (refusal) return refusal;
  return changeOrganization(
    ports,
    {
      ...change,
      action: 'organization.set_limits',
      apply: (current) => checkWithinCeilings(limits, current.ceilings) ?? { ...current, limits },
    },
    signal,
  );
}

export interface SetOrganizationCeilings extends Omit<SetOrganizationLimits, 'limits'> {
  readonly ceilings: OrganizationLimits;
}

/** Replaces all ceilings. Limits of the organization and of its keys that are above the new ones are lowered to them. */
export async function setOrganizationCeilings(
  ports: OrganizationPorts,
  { ceilings, ...change }: SetOrganizationCeilings,
  signal: CancelSignal,
): Promise<Organization | AdminRefusal> {
  const refusal = checkLimits(ceilings);
  if (refusal) return refusal;
  return changeOrganization(
    ports,
    {
      ...change,
      action: 'organization.set_ceilings',
      apply: (current) => ({ ...current, ceilings, limits: lowerToCeilings(current.limits, ceilings) }),
    },
    signal,
  );
}
