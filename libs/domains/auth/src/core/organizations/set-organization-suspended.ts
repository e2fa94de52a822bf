import type { CancelSignal } from '@gateway/base';
import { isRefusal } from '@gateway/errors';
import { type AdminRefusal, type Actor, MAX_REASON_CHARACTERS, readText } from '@gateway/auth-shared';
import { changeOrganization, type OrganizationPorts } from './change-organization';
import type { Organization } from '../model';

export interface SetOrganizationSuspended {
  readonly actor: Actor;
  readonly organizationId: string;
  readonly suspended: boolean;
  readonly reason?: string;
}

/** Suspends or resumes an organization. Idempotent; suspending again replaces the reason. */
export async function setOrganizationSuspended(
  ports: OrganizationPorts,
  { actor, organizationId, suspended, reason: requestedReason }: SetOrganizationSuspended,
  signal: CancelSignal,
): Promise<Organization | AdminRefusal> {
  let reason: string | undefined;
  if (suspended && requestedReason !== undefined) {
    const read = readText('reason', requestedReason, MAX_REASON_CHARACTERS);
    if (isRefusal(read)) return read;
    reason = read;
  }
  return changeOrganization(
    ports,
    {
      actor,
      organizationId,
      action: suspended ? 'organization.suspend' : 'organization.resume',
      apply: ({ suspendedReason: _previous, ...current }) => ({
        ...current,
        suspended,
        ...(reason === undefined ? {} : { suspendedReason: reason }),
      }),
    },
    signal,
  );
}
