import { mayManagementTokensGrant, type CancelSignal } from '@gateway/base';
import { isRefusal } from '@gateway/errors';
import {
  forbidden,
  notFound,
  conflict,
  type AdminRefusal,
  auditOf,
  type Actor,
  isIdLike,
  stillHas,
} from '@gateway/auth-shared';
import { refuseUnlessPermitted, type PermissionPorts } from '../access/authorize';
import type { OrganizationMember, OrganizationRole } from '../model';
import type { PeoplePorts } from '../ports';
import { awaitRevocation } from '../sign-in/sessions';

type MembershipPorts = PermissionPorts & Pick<PeoplePorts, 'leases' | 'feed' | 'newId'>;

export interface MembershipTarget {
  readonly actor: Actor;
  readonly organizationId: string;
  readonly memberId: string;
}

/** Changes a role. Promoting or demoting an owner requires the permission to manage owners. The last owner stays. */
export async function setOrganizationRole(
  ports: MembershipPorts,
  { actor, organizationId, memberId, role }: MembershipTarget & { readonly role: OrganizationRole },
  signal: CancelSignal,
): Promise<OrganizationMember | AdminRefusal> {
  if (!isIdLike(organizationId) || !isIdLike(memberId)) return notFound('member');
  if (actor.tokenAccess !== undefined && !mayManagementTokensGrant(role)) return notForManagementTokens();
  const managesOwners = !(await refuseUnlessPermitted(ports, actor, 'members:manage_owners', organizationId));
  const target = { organizationId, memberId, actorId: actor.id };
  const changed = await ports.memberships.change(target, (current, { owners, actor: roles }) => {
    const ofOwner = current.role === 'owner' || role === 'owner';
    if (!stillHas(roles, ofOwner ? 'members:manage_owners' : 'members:manage')) return forbidden();
    if (current.role === role) return { kind: 'unchanged', value: current };
    if (ofOwner && !managesOwners) return forbidden();
    if (current.role === 'owner' && owners === 1) return lastOwner();
    const audit = auditOf(
      {
        actor,
        organizationId,
        action: 'membership.set_role',
        target: memberId,
        details: { email: current.email, changed: { role: { before: current.role, after: role } } },
      },
      ports,
    );
    return { kind: 'change', value: { ...current, role }, audit };
  });
  if (!changed) return notFound('member');
  if (isRefusal(changed)) return changed;
  await awaitRevocation(ports, changed, signal);
  return changed.member;
}

/** Removes a member; the account and its other memberships remain. Members may remove themselves. */
export async function removeOrganizationMember(
  ports: MembershipPorts,
  { actor, organizationId, memberId }: MembershipTarget,
  signal: CancelSignal,
): Promise<AdminRefusal | undefined> {
  if (!isIdLike(organizationId) || !isIdLike(memberId)) return notFound('member');
  const managesOwners =
    actor.id === memberId ||
    !(await refuseUnlessPermitted(ports, actor, 'members:manage_owners', organizationId));
  const target = { organizationId, memberId, actorId: actor.id };
  const removed = await ports.memberships.remove(target, (current, { owners, actor: roles }) => {
    const permission = current.role === 'owner' ? 'members:manage_owners' : 'members:manage';
    if (actor.id !== memberId && !stillHas(roles, permission)) return forbidden();
    if (current.role === 'owner' && !managesOwners) return forbidden();
    if (current.role === 'owner' && owners === 1) return lastOwner();
    const details = { email: current.email, role: current.role };
    const audit = auditOf(
      { actor, organizationId, action: 'membership.remove', target: memberId, details },
      ports,
    );
    return { kind: 'change', value: current, audit };
  });
  if (!removed) return notFound('member');
  if (isRefusal(removed)) return removed;
  await awaitRevocation(ports, removed, signal);
  return undefined;
}

export function notForManagementTokens(): AdminRefusal {
  const message = 'A management token may not grant this role, since people with it do what tokens may not.';
  return { ...forbidden(), message };
}

function lastOwner(): AdminRefusal {
  return conflict('An organization needs at least one owner. Make another member an owner first.');
}
