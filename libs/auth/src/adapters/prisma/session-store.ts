import type { SessionStore } from '../../core/ports';
import type { AuthPrisma } from './client';
import { newestFirst } from './page';
import { auditEntryRow, sessionOf, sessionRow } from './rows';

export function createPrismaSessionStore(prisma: AuthPrisma): SessionStore {
  return {
    async insert(tokenSha256, session, audit) {
      const data = { ...sessionRow(session), tokenSha256: Uint8Array.from(tokenSha256) };
      await prisma.$transaction([
        prisma.session.create({ data }),
        prisma.auditEntry.create({ data: auditEntryRow(audit) }),
      ]);
    },

    async find(tokenSha256) {
      const where = { tokenSha256: Uint8Array.from(tokenSha256) };
      const row = await prisma.session.findUnique({ where, include: { member: true } });
      return row ? sessionOf(row) : undefined;
    },

    async list(memberId, page) {
      const { where, ...order } = newestFirst(page);
      const rows = await prisma.session.findMany({
        where: { ...where, memberId },
        ...order,
        include: { member: true },
      });
      return rows.map(sessionOf);
    },

    async noteSeen({ id, member, lastSeenAt, ipAddress }) {
      const seen = new Date(lastSeenAt);
      // Many, since the session may have ended in between, which is no failure of who asks.
      await prisma.$transaction([
        prisma.session.updateMany({ where: { id }, data: { lastSeenAt: seen, ipAddress } }),
        prisma.member.updateMany({ where: { id: member.id }, data: { lastSeenAt: seen } }),
      ]);
    },

    async delete(tokenSha256, audit) {
      await prisma.$transaction(async (transaction) => {
        const where = { tokenSha256: Uint8Array.from(tokenSha256) };
        const row = await transaction.session.findUnique({ where, include: { member: true } });
        if (!row) return;
        // Zero when another call deleted it in between: then that one writes the entry.
        const { count } = await transaction.session.deleteMany({ where });
        if (count === 0) return;
        await transaction.auditEntry.create({ data: auditEntryRow(audit(sessionOf(row))) });
      });
    },

    deleteOwn(memberId, id, audit) {
      return prisma.$transaction(async (transaction) => {
        const { count } = await transaction.session.deleteMany({ where: { id, memberId } });
        if (count === 0) return false;
        await transaction.auditEntry.create({ data: auditEntryRow(audit) });
        return true;
      });
    },

    deleteOthers(memberId, keptId, audit) {
      return prisma.$transaction(async (transaction) => {
        const { count } = await transaction.session.deleteMany({ where: { memberId, id: { not: keptId } } });
        if (count > 0) await transaction.auditEntry.create({ data: auditEntryRow(audit(count)) });
        return count;
      });
    },
  };
}
