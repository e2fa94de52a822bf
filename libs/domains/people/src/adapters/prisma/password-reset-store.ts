import type { UnixMs } from '@gateway/base';
import type { PasswordResetStore } from '../../core/ports';
import { type AuthPrisma, auditEntryRow, lockMembers } from '@gateway/auth-shared/adapters';
import { storedMemberOf } from './rows';
import { replaceSessions } from './sessions';

export function createPrismaPasswordResetStore(prisma: AuthPrisma): PasswordResetStore {
  return {
    async insert(tokenSha256, memberId, expiresAt, audit) {
      const data = { tokenSha256: Uint8Array.from(tokenSha256), memberId, expiresAt: new Date(expiresAt) };
      await prisma.$transaction([
        prisma.passwordReset.create({ data }),
        prisma.auditEntry.create({ data: auditEntryRow(audit) }),
      ]);
    },

    async find(tokenSha256) {
      const where = { tokenSha256: Uint8Array.from(tokenSha256) };
      const row = await prisma.passwordReset.findUnique({ where, include: { member: true } });
      if (!row) return undefined;
      return { member: storedMemberOf(row.member), expiresAt: row.expiresAt.getTime() as UnixMs };
    },

    complete(tokenSha256, memberId, passwordHash, audit) {
      return prisma.$transaction(async (transaction) => {
        await lockMembers(transaction, memberId);
        const where = { tokenSha256: Uint8Array.from(tokenSha256), memberId };
        const { count } = await transaction.passwordReset.deleteMany({ where });
        if (count === 0) return undefined;
        await transaction.passwordReset.deleteMany({ where: { memberId } });
        await transaction.member.update({ where: { id: memberId }, data: { passwordHash } });
        await transaction.auditEntry.create({ data: auditEntryRow(audit) });
        return replaceSessions(transaction, memberId, audit.createdAt);
      });
    },
  };
}
