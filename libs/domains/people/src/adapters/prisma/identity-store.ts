import type { IdentityStore } from '../../core/single-sign-on/ports';
import { type AuthPrisma, lockOrganization, auditEntryRow } from '@gateway/auth-shared/adapters';
import { isUniqueViolation } from './member-store';
import { identityOf, storedMemberOf, storedMemberRow } from './rows';
import { endSessions, insertSession, lockUnchanged } from './sessions';

export function createPrismaIdentityStore(prisma: AuthPrisma): IdentityStore {
  return {
    async find(issuer, subject) {
      const where = { issuer_subject: { issuer, subject } };
      const row = await prisma.memberIdentity.findUnique({ where, include: { member: true } });
      return row ? storedMemberOf(row.member) : undefined;
    },

    async subjectOf(memberId, issuer) {
      const where = { memberId_issuer: { memberId, issuer } };
      return (await prisma.memberIdentity.findUnique({ where }))?.subject;
    },

    async link({ issuer, subject, member, isNew, membership, at, audits, opened }) {
      const createdAt = new Date(at);
      const memberId = member.id;
      try {
        return await prisma.$transaction(async (transaction) => {
          // Members are locked before organizations.
          if (!isNew && !(await lockUnchanged(transaction, member))) return false;
          if (membership) await lockOrganization(transaction, membership.organizationId, 'for update');
          if (isNew) await transaction.member.create({ data: { ...storedMemberRow(member), createdAt } });
          await transaction.memberIdentity.create({ data: { issuer, subject, memberId, createdAt } });
          if (membership)
            await transaction.membership.create({ data: { ...membership, memberId, createdAt } });
          await insertSession(transaction, opened);
          await transaction.auditEntry.createMany({ data: [...audits, opened.audit].map(auditEntryRow) });
          return true;
        });
      } catch (error) {
        if (isUniqueViolation(error)) return false;
        throw error;
      }
    },

    async list(memberId) {
      const rows = await prisma.memberIdentity.findMany({ where: { memberId }, orderBy: { issuer: 'asc' } });
      return rows.map(identityOf);
    },

    unlink({ memberId, issuer, keptSessionId, audit }) {
      return prisma.$transaction(async (transaction) => {
        const { count } = await transaction.memberIdentity.deleteMany({ where: { memberId, issuer } });
        if (count === 0) return undefined;
        await transaction.auditEntry.create({ data: auditEntryRow(audit) });
        const others = keptSessionId === undefined ? {} : { id: { not: keptSessionId } };
        return endSessions(transaction, { memberId, signedInBy: 'oidc', ...others }, audit.createdAt);
      });
    },
  };
}
