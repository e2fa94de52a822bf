import type { IdentityStore } from '../../core/single-sign-on/ports';
import type { AuthPrisma } from './client';
import { isTaken } from './member-store';
import { lockOrganization } from './organization-store';
import { auditEntryRow, memberOf, newSessionRow, storedMemberRow } from './rows';

export function createPrismaIdentityStore(prisma: AuthPrisma): IdentityStore {
  return {
    async find(issuer, subject) {
      const where = { issuer_subject: { issuer, subject } };
      const row = await prisma.memberIdentity.findUnique({ where, include: { member: true } });
      return row ? memberOf(row.member) : undefined;
    },

    async isLinked(memberId, issuer) {
      return (await prisma.memberIdentity.count({ where: { memberId, issuer } })) > 0;
    },

    async link({ issuer, subject, memberId, newMember, membership, at, audits, opened }) {
      const createdAt = new Date(at);
      try {
        await prisma.$transaction(async (transaction) => {
          if (membership) await lockOrganization(transaction, membership.organizationId, 'for update');
          if (newMember)
            await transaction.member.create({ data: { ...storedMemberRow(newMember), createdAt } });
          await transaction.memberIdentity.create({ data: { issuer, subject, memberId, createdAt } });
          if (membership)
            await transaction.membership.create({ data: { ...membership, memberId, createdAt } });
          await transaction.session.create({ data: newSessionRow(opened) });
          await transaction.auditEntry.createMany({ data: [...audits, opened.audit].map(auditEntryRow) });
        });
        return true;
      } catch (error) {
        if (isTaken(error)) return false;
        throw error;
      }
    },
  };
}
