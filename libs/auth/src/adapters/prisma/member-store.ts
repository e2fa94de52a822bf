import type { MemberStore } from '../../core/ports';
import type { AuthPrisma } from './client';
import { Prisma } from './generated/client';
import { newestFirst } from './page';
import { auditEntryRow, personOf, storedMemberOf } from './rows';

export function createPrismaMemberStore(prisma: AuthPrisma): MemberStore {
  return {
    async insert({ id, email, role, passwordHash }, createdAt, audit) {
      const data = { id, email, role, passwordHash: passwordHash ?? null, createdAt: new Date(createdAt) };
      try {
        await prisma.$transaction([
          prisma.member.create({ data }),
          prisma.auditEntry.create({ data: auditEntryRow(audit) }),
        ]);
        return true;
      } catch (error) {
        if (isTaken(error)) return false;
        throw error;
      }
    },

    async find(id) {
      const row = await prisma.member.findUnique({ where: { id } });
      return row ? storedMemberOf(row) : undefined;
    },

    async findByEmail(email) {
      const row = await prisma.member.findUnique({ where: { email } });
      return row ? storedMemberOf(row) : undefined;
    },

    async list(page) {
      const include = { memberships: { include: { organization: true } } };
      const rows = await prisma.member.findMany({ ...newestFirst(page), include });
      return rows.map(personOf);
    },

    async setPassword(memberId, passwordHash, audit) {
      await prisma.$transaction([
        prisma.member.update({ where: { id: memberId }, data: { passwordHash } }),
        prisma.session.deleteMany({ where: { memberId } }),
        prisma.auditEntry.create({ data: auditEntryRow(audit) }),
      ]);
    },

    async setRole(memberId, role, audit) {
      await prisma.$transaction([
        prisma.member.update({ where: { id: memberId }, data: { role } }),
        prisma.session.deleteMany({ where: { memberId } }),
        prisma.auditEntry.create({ data: auditEntryRow(audit) }),
      ]);
    },
  };
}

/** Whether a unique column has the value already. */
export function isTaken(error: unknown): boolean {
  return error instanceof Prisma.PrismaClientKnownRequestError && error.code === 'P2002';
}
