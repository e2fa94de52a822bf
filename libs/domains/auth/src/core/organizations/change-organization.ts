import type { CancelSignal } from '@gateway/base';
import { isRefusal } from '@gateway/errors';
import {
  checkVersion,
  notFound,
  type AdminRefusal,
  auditOf,
  changedFields,
  awaitEdges,
  type Actor,
  isIdLike,
} from '@gateway/auth-shared';
import { organizationFields } from './organization-fields';
import type { Organization } from '../model';
import type { AuthPorts } from '../ports';

export type OrganizationPorts = Pick<AuthPorts, 'organizations' | 'leases' | 'feed' | 'clock' | 'newId'>;

export interface OrganizationChange {
  readonly actor: Actor;
  readonly organizationId: string;
  /** For the audit log. */
  readonly action: string;
  /** Absent: any version. */
  readonly expectedVersion?: number;
  readonly apply: (current: Organization) => Organization | AdminRefusal;
}

/**
 * Writes the change with its audit entry, and resolves once no edge can act on
 * the previous state. It waits even if nothing changed, since edges may not have
 * acknowledged the previous change yet.
 */
export async function changeOrganization(
  ports: OrganizationPorts,
  { actor, organizationId, action, expectedVersion, apply }: OrganizationChange,
  signal: CancelSignal,
): Promise<Organization | AdminRefusal> {
  if (!isIdLike(organizationId)) return notFound('organization');
  const committed = await ports.organizations.change(organizationId, (current) => {
    const refusal = checkVersion(current.version, expectedVersion);
    if (refusal) return refusal;
    const applied = apply(current);
    if (isRefusal(applied)) return applied;
    const value = { ...applied, version: current.version + 1 };
    const before = organizationFields(current);
    const after = organizationFields(value);
    if (JSON.stringify(before) === JSON.stringify(after)) return { kind: 'unchanged', value: current };
    const details = changedFields(before, after);
    const audit = auditOf({ actor, organizationId, action, target: organizationId, details }, ports);
    return { kind: 'change', value, audit };
  });
  if (!committed) return notFound('organization');
  if (isRefusal(committed)) return committed;
  await awaitEdges(ports, committed.sequence, signal);
  return committed.value;
}
