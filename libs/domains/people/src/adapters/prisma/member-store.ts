import { isRefusal } from '@gateway/errors';
import type { MemberStore } from '../../core/ports';
import {
  type AuthPrisma,
  Prisma,
  newestFirst,
  auditEntryRow,
  lockMembers,
} from '@gateway/auth-shared/adapters';
import { memberContaining, personOf, storedMemberOf, storedMemberRow } from './rows';
import { endSessions, lockUnchanged, replaceSessions } from './sessions';

export function createPrismaMemberStore(prisma: AuthPrisma): MemberStore {
  return {
    async insert(member, createdAt, audit) {
      const data = { ...storedMemberRow(member), createdAt: new Date(createdAt) };
      try {
        await prisma.$transaction([
          prisma.member.create({ data }),
          prisma.auditEntry.create({ data: auditEntryRow(audit) }),
        ]);
        return true;
      } catch (error) {
        if (isUniqueViolation(error)) return false;
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

    async list(page, search) {
      const { where, ...order } = newestFirst(page);
      const include = {
        memberships: { include: { organization: true } },
        identities: { orderBy: { issuer: 'asc' } },
      } as const;
      const rows = await prisma.member.findMany({
        where: { AND: [where, search === undefined ? {} : memberContaining(search)] },
        ...order,
        include,
      });
      return rows.map(personOf);
    },

    count: (search) => prisma.member.count({ where: search === undefined ? {} : memberContaining(search) }),

    setPassword(memberId, passwordHash, audit, changed) {
      const audits = changed ? [audit, changed.opened.audit] : [audit];
      return prisma.$transaction(async (transaction) => {
        if (changed && !(await lockUnchanged(transaction, changed.checked, changed.sessionId)))
          return undefined;
        await transaction.member.update({ where: { id: memberId }, data: { passwordHash } });
        await transaction.passwordReset.deleteMany({ where: { memberId } });
        await transaction.auditEntry.createMany({ data: audits.map(auditEntryRow) });
        return replaceSessions(transaction, memberId, audit.createdAt, changed?.opened);
      });
    },

    async changeProfile(memberId, changes, audit) {
      await prisma.$transaction([
        prisma.member.update({ where: { id: memberId }, data: changes }),
        prisma.auditEntry.create({ data: auditEntryRow(audit) }),
      ]);
    },

    change(memberId, actorId, decide) {
      return prisma.$transaction(async (transaction) => {
        await lockMembers(transaction, memberId, actorId);
        const row = await transaction.member.findUnique({ where: { id: memberId } });
        if (!row) return undefined;
        const actor = await transaction.member.findUnique({ where: { id: actorId } });
        const decision = decide(storedMemberOf(row), actor ? storedMemberOf(actor) : undefined);
        if (isRefusal(decision)) return decision;
        const { value: member } = decision;
        if (decision.kind === 'unchanged') return { member, changed: false, ended: 0, sequence: undefined };
        const { role, disabled } = member;
        const disabledAt = disabled ? (row.disabledAt ?? new Date(decision.audit.createdAt)) : null;
        await transaction.member.update({ where: { id: memberId }, data: { role, disabledAt } });
        if (disabled) await transaction.passwordReset.deleteMany({ where: { memberId } });
        await transaction.auditEntry.create({ data: auditEntryRow(decision.audit) });
        const ended = await endSessions(transaction, { memberId }, decision.audit.createdAt);
        return { member, changed: true, ...ended };
      });
    },
  };
}

/** Whether the error is a violation of a unique constraint. */
export function isUniqueViolation(error: unknown): boolean {
  return error instanceof Prisma.PrismaClientKnownRequestError && error.code === 'P2002';
}
