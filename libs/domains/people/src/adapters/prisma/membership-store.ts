import { isRefusal } from '@gateway/errors';
import type { AdminRefusal, Decision } from '@gateway/auth-shared';
import type { OrganizationMember } from '../../core/model';
import type { ChangedMembership, LockedRoles, MembershipOf, MembershipStore } from '../../core/ports';
import {
  type AuthPrisma,
  type AuthTransaction,
  lastInvalidation,
  auditEntryRow,
  revokeSessionKeys,
  lockRoles,
} from '@gateway/auth-shared/adapters';
import { memberContaining, membershipOf, organizationMemberOf } from './rows';

type Decide = (current: OrganizationMember, locked: LockedRoles) => Decision<OrganizationMember>;
type Where = {
  readonly organizationId_memberId: { readonly organizationId: string; readonly memberId: string };
};

export function createPrismaMembershipStore(prisma: AuthPrisma): MembershipStore {
  /** Decides under locks, so that the last two owners cannot both leave concurrently, nor change each other. */
  function decided(
    { organizationId, memberId, actorId }: MembershipOf,
    decide: Decide,
    write: (transaction: AuthTransaction, where: Where, value: OrganizationMember) => Promise<unknown>,
  ): Promise<ChangedMembership | AdminRefusal | undefined> {
    return prisma.$transaction(async (transaction) => {
      const actor = await lockRoles(transaction, actorId, organizationId);
      const where = { organizationId_memberId: { organizationId, memberId } };
      const row = await transaction.membership.findUnique({ where, include: { member: true } });
      if (!row) return undefined;
      const owners = await transaction.membership.count({ where: { organizationId, role: 'owner' } });
      const decision = decide(organizationMemberOf(row), { owners, actor });
      if (isRefusal(decision)) return decision;
      if (decision.kind === 'unchanged') {
        return { member: decision.value, sequence: await lastInvalidation(transaction) };
      }
      await write(transaction, where, decision.value);
      await transaction.auditEntry.create({ data: auditEntryRow(decision.audit) });
      // Session keys were created under the previous role, so they are revoked.
      const sessions = await transaction.session.findMany({ where: { memberId }, select: { id: true } });
      const ofMember = { organizationId, sessionId: { in: sessions.map(({ id }) => id) } };
      const sequence = await revokeSessionKeys(transaction, ofMember, decision.audit.createdAt);
      return { member: decision.value, sequence };
    });
  }

  return {
    async find(organizationId, memberId) {
      const row = await prisma.organization.findUnique({
        where: { id: organizationId },
        select: { memberships: { where: { memberId }, select: { role: true } } },
      });
      if (!row) return { exists: false };
      const role = row.memberships[0]?.role as OrganizationMember['role'] | undefined;
      return role === undefined ? { exists: true } : { exists: true, role };
    },

    async requireSecondFactor(memberId) {
      const where = { memberId, organization: { requiresSecondFactor: true } };
      return (await prisma.membership.count({ where })) > 0;
    },

    async listOf(memberId) {
      const rows = await prisma.membership.findMany({
        where: { memberId },
        include: { organization: true },
        orderBy: { organizationId: 'asc' },
      });
      return rows.map(membershipOf);
    },

    async listIn(organizationId, { size, after }, search) {
      const rows = await prisma.membership.findMany({
        where: {
          organizationId,
          ...(after === undefined ? {} : { memberId: { lt: after } }),
          ...(search === undefined ? {} : { member: memberContaining(search) }),
        },
        include: { member: true },
        orderBy: { memberId: 'desc' },
        take: size,
      });
      return rows.map(organizationMemberOf);
    },

    countIn: (organizationId, search) =>
      prisma.membership.count({
        where: { organizationId, ...(search === undefined ? {} : { member: memberContaining(search) }) },
      }),

    change: (membership, decide) =>
      decided(membership, decide, (transaction, where, { role }) =>
        transaction.membership.update({ where, data: { role } }),
      ),

    remove: (membership, decide) =>
      decided(membership, decide, (transaction, where) => transaction.membership.delete({ where })),
  };
}
