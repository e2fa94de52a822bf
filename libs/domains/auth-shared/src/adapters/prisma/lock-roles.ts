import type { MemberRole, OrganizationRole } from '@gateway/base';
import type { ActorRoles } from '../../core/actor-check';
import type { AuthTransaction } from './client';
import { lockOrganization } from './lock-organization';

/**
 * Locks the actor's account, and then the organization: no change of a role or of a count of the organization commits
 * until the transaction ends. Members are locked before organizations.
 *
 * @returns the actor's roles; undefined for an actor without an account, such as a management token.
 */
export async function lockRoles(
  transaction: AuthTransaction,
  actorId: string,
  organizationId: string | undefined,
): Promise<ActorRoles | undefined> {
  await lockMembers(transaction, actorId);
  if (organizationId !== undefined) await lockOrganization(transaction, organizationId, 'for update');
  const row = await transaction.member.findUnique({
    where: { id: actorId },
    include: { memberships: { where: { organizationId: organizationId ?? '' } } },
  });
  if (!row) return undefined;
  return {
    disabled: row.disabledAt !== null,
    memberRole: row.role as MemberRole,
    organizationRole: row.memberships[0]?.role as OrganizationRole | undefined,
  };
}

/**
 * Locks members until the transaction ends: before their sessions and links, and in one order, as every transaction does.
 */
export async function lockMembers(transaction: AuthTransaction, ...ids: readonly string[]): Promise<void> {
  await transaction.$queryRaw`select 1 from members where id = any (${ids}) order by id for no key update`;
}
