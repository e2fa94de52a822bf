import type { CancelSignal } from '@gateway/base';
import type { AdminRefusal, Actor } from '@gateway/auth-shared';
import { withChanges, type Changes } from '../changes';
import { changeOrganization, type OrganizationPorts } from './change-organization';
import { checkHasNoEndUsers, checkLimits, checkWithinCeilings, lowerToCeilings } from './limits';
import type { Organization, OrganizationLimits } from '../model';

export interface SetOrganizationLimits {
  readonly actor: Actor;
  readonly organizationId: string;
  readonly limits: Changes<OrganizationLimits>;
  readonly expectedVersion?: number;
}

/** Changes limits. Limits of keys that are above the new ones are lowered to them. */
export async function setOrganizationLimits(
  ports: OrganizationPorts,
  { limits: changes, ...change }: SetOrganizationLimits,
  signal: CancelSignal,
): Promise<Organization | AdminRefusal> {
  return changeOrganization(
    ports,
    {
      ...change,
      action: 'organization.set_limits',
      apply: (current) => {
        const limits = withChanges(current.limits, changes);
        return (
          checkLimits(limits) ??
          checkHasNoEndUsers(limits) ??
          checkWithinCeilings(limits, current.ceilings) ?? { ...current, limits }
        );
      },
    },
    signal,
  );
}

export interface SetOrganizationCeilings extends Omit<SetOrganizationLimits, 'limits'> {
  readonly ceilings: Changes<OrganizationLimits>;
}

/** Changes ceilings. Limits of the organization and of its keys that are above the new ones are lowered to them. */
export async function setOrganizationCeilings(
  ports: OrganizationPorts,
  { ceilings: changes, ...change }: SetOrganizationCeilings,
  signal: CancelSignal,
): Promise<Organization | AdminRefusal> {
  return changeOrganization(
    ports,
    {
      ...change,
      action: 'organization.set_ceilings',
      apply: (current) => {
        const ceilings = withChanges(current.ceilings, changes);
        const limits = lowerToCeilings(current.limits, ceilings);
        return checkLimits(ceilings) ?? { ...current, ceilings, limits };
      },
    },
    signal,
  );
}
