import type { CancelSignal } from '@gateway/base';
import type { Actor, AdminRefusal } from '@gateway/auth-shared';
import { changeOrganization, type OrganizationPorts } from './change-organization';
import type { Organization } from '../model';

export interface SetSecondFactorRequired {
  readonly actor: Actor;
  readonly organizationId: string;
  readonly required: boolean;
}

/** From the next request on, people of the organization without a second factor can only set one up. */
export function setSecondFactorRequired(
  ports: OrganizationPorts,
  { actor, organizationId, required }: SetSecondFactorRequired,
  signal: CancelSignal,
): Promise<Organization | AdminRefusal> {
  const action = 'organization.require_second_factor';
  const apply = (current: Organization) => ({ ...current, requiresSecondFactor: required });
  return changeOrganization(ports, { actor, organizationId, action, apply }, signal);
}
