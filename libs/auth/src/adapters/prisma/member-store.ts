import type { MemberStore, SessionStore, StoredMember } from '../../core/ports';
import type { UnixMs } from '@gateway/base';
import { Prisma } from './generated/client';
import type { AuthPrisma } from './client';
import { auditEntryRow, memberOf } from './rows';

export function createPrismaMemberStore(prisma: AuthPrisma): MemberStore {
  return {
    async insert({ id, email, role, passwordHash }, createdAt, audit) {
      try {
        await prisma.$transaction([
          prisma.member.create({ data: { id, email, role, passwordHash, createdAt: new Date(createdAt) } }),
          prisma.auditEntry.create({ data: auditEntryRow(audit) }),
        ]);
        return true;
      } catch (error) {
        if (error instanceof Prisma.PrismaClientKnownRequestError && error.code === 'P2002') return false;
        throw error;
      }
    },

    async findByEmail(email): Promise<StoredMember | undefined> {
      const row = await prisma.member.findUnique({ where: { email } });
      return row ? { ...memberOf(row), passwordHash: row.passwordHash } : undefined;
    },

    async setPassword(memberId, passwordHash, audit) {
      await prisma.$transaction([
        prisma.member.update({ where: { id: memberId }, data: { passwordHash } }),
        prisma.session.deleteMany({ where: { memberId } }),
        prisma.auditEntry.create({ data: auditEntryRow(audit) }),
      ]);
    },
  };
}

export function createPrismaSessionStore(prisma: AuthPrisma): SessionStore {
  return {
    async insert(tokenSha256, { member, expiresAt }, createdAt, audit) {
      await prisma.$transaction([
        prisma.session.create({
          data: {
            tokenSha256: Uint8Array.from(tokenSha256),
            memberId: member.id,
            createdAt: new Date(createdAt),
            expiresAt: new Date(expiresAt),
          },
        }),
        prisma.auditEntry.create({ data: auditEntryRow(audit) }),
      ]);
    },

    async find(tokenSha256) {
      const row = await prisma.session.findUnique({
        where: { tokenSha256: Uint8Array.from(tokenSha256) },
        include: { member: true },
      });
      if (!row) return undefined;
      return { member: memberOf(row.member), expiresAt: row.expiresAt.getTime() as UnixMs };
    },

    async delete(tokenSha256, audit) {
      await prisma.$transaction(async (transaction) => {
        const where = { tokenSha256: Uint8Array.from(tokenSha256) };
        const row = await transaction.session.findUnique({ where, include: { member: true } });
        if (!row) return;
        // Zero when another call deleted it in between: then that one writes the entry.
        const { count } = await transaction.session.deleteMany({ where });
        if (count === 0) return;
        const session = { member: memberOf(row.member), expiresAt: row.expiresAt.getTime() as UnixMs };
        await transaction.auditEntry.create({ data: auditEntryRow(audit(session)) });
      });
    },
  };
}
