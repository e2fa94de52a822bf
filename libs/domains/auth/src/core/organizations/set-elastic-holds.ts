import type { CancelSignal } from '@gateway/base';
import type { Actor, AdminRefusal } from '@gateway/auth-shared';
import { changeOrganization, type OrganizationPorts } from './change-organization';
import type { Organization } from '../model';

export interface SetElasticHolds {
  readonly actor: Actor;
  readonly organizationId: string;
  readonly enabled: boolean;
}

/** Applies to requests that edges admit from then on. */
export function setElasticHolds(
  ports: OrganizationPorts,
  { actor, organizationId, enabled }: SetElasticHolds,
  signal: CancelSignal,
): Promise<Organization | AdminRefusal> {
  const action = 'organization.set_elastic_holds';
  const apply = (current: Organization) => ({ ...current, elasticHolds: enabled });
  return changeOrganization(ports, { actor, organizationId, action, apply }, signal);
}
