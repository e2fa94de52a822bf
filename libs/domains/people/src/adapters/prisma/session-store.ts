import type { UnixMs } from '@gateway/base';
import type { AuditEntry, EndedSessions } from '@gateway/auth-shared';
import type { SessionStore } from '../../core/ports';
import {
  type AuthPrisma,
  type AuthTransaction,
  type Prisma,
  newestFirst,
  auditEntryRow,
  sessionOf,
  lockMembers,
} from '@gateway/auth-shared/adapters';
import { endSessions, insertSession, lockUnchanged } from './sessions';

export function createPrismaSessionStore(prisma: AuthPrisma): SessionStore {
  async function find(where: Prisma.SessionWhereInput) {
    const row = await prisma.session.findFirst({ where, include: { member: true } });
    if (!row || row.member.disabledAt !== null) return undefined;
    return { ...sessionOf(row), secondFactor: row.member.totpConfirmedAt !== null };
  }

  return {
    insert(opened, checked) {
      return prisma.$transaction(async (transaction) => {
        if (!(await lockUnchanged(transaction, checked))) return false;
        await insertSession(transaction, opened);
        await transaction.auditEntry.create({ data: auditEntryRow(opened.audit) });
        return true;
      });
    },

    find: (tokenSha256) => find({ tokenSha256: Uint8Array.from(tokenSha256) }),
    findOwn: (memberId, id) => find({ memberId, id }),

    async list(memberId, page) {
      const { where, ...order } = newestFirst(page);
      const rows = await prisma.session.findMany({
        where: { ...where, memberId },
        ...order,
        include: { member: true },
      });
      return rows.map(sessionOf);
    },

    async findConfirmation(id, memberId) {
      const row = await prisma.session.findFirst({ where: { id, memberId }, select: { confirmedAt: true } });
      return row ? (row.confirmedAt.getTime() as UnixMs) : undefined;
    },

    async recordConfirmation(id, at) {
      await prisma.session.updateMany({ where: { id }, data: { confirmedAt: new Date(at) } });
    },

    async recordActivity({ id, member, lastSeenAt, ipAddress }) {
      const seen = new Date(lastSeenAt);
      // `updateMany`, since it does not fail if the session has ended meanwhile. The member first: a change that ends
      // sessions locks them after the member.
      await prisma.$transaction([
        prisma.member.updateMany({ where: { id: member.id }, data: { lastSeenAt: seen } }),
        prisma.session.updateMany({ where: { id }, data: { lastSeenAt: seen, ipAddress } }),
      ]);
    },

    delete(tokenSha256, audit) {
      return prisma.$transaction(async (transaction) => {
        const where = { tokenSha256: Uint8Array.from(tokenSha256) };
        const row = await transaction.session.findUnique({ where, include: { member: true } });
        if (!row) return NONE;
        const entry = audit(sessionOf(row));
        return ended(transaction, where, entry.createdAt, () => entry);
      });
    },

    deleteOwn(memberId, id, audit) {
      return prisma.$transaction((transaction) =>
        ended(transaction, { id, memberId }, audit.createdAt, () => audit),
      );
    },

    deleteAll(memberId, audit) {
      return prisma.$transaction(async (transaction) => {
        await lockMembers(transaction, memberId);
        return ended(transaction, { memberId }, audit(0).createdAt, audit);
      });
    },

    deleteOthers(memberId, keptId, audit) {
      return prisma.$transaction(async (transaction) => {
        await lockMembers(transaction, memberId);
        return ended(transaction, { memberId, id: { not: keptId } }, audit(0).createdAt, audit);
      });
    },
  };
}

const NONE = { ended: 0, sequence: undefined };

/** Writes the audit entry unless no session ended: a concurrent call may have ended it and written its own. */
async function ended(
  transaction: AuthTransaction,
  where: Prisma.SessionWhereInput,
  at: UnixMs,
  audit: (ended: number) => AuditEntry,
): Promise<EndedSessions> {
  const result = await endSessions(transaction, where, at);
  if (result.ended > 0) await transaction.auditEntry.create({ data: auditEntryRow(audit(result.ended)) });
  return result;
}
