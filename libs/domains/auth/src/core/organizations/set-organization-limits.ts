import type { CancelSignal } from '@gateway/base';
import type { AdminRefusal, Actor } from '@gateway/auth-shared';
import { changeOrganization, type OrganizationPorts } from './change-organization';
import { checkLimits } from './limits';
import type { Organization, OrganizationLimits } from '../model';

export interface SetOrganizationLimits {
  readonly actor: Actor;
  readonly organizationId: string;
  readonly limits: OrganizationLimits;
  readonly expectedVersion?: number;
}

/** Replaces all limits. Caps of keys that now exceed them are unchanged, since both are enforced. */
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
      apply: (current) => ({ ...current, limits }),
    },
    signal,
  );
}
