import type { MemberStore } from '../../core/ports';
import {
  type AuthPrisma,
  type AuthTransaction,
  Prisma,
  newestFirst,
  auditEntryRow,
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

    setDisabled(memberId, disabledAt, audit) {
      return prisma.$transaction(async (transaction) => {
        if (disabledAt !== undefined && !(await isAnotherOperatorLeft(transaction, memberId)))
          return undefined;
        const data = { disabledAt: disabledAt === undefined ? null : new Date(disabledAt) };
        await transaction.member.update({ where: { id: memberId }, data });
        if (disabledAt !== undefined) await transaction.passwordReset.deleteMany({ where: { memberId } });
        await transaction.auditEntry.create({ data: auditEntryRow(audit) });
        return endSessions(transaction, { memberId }, audit.createdAt);
      });
    },

    setRole(memberId, role, audit) {
      return prisma.$transaction(async (transaction) => {
        if (role !== 'operator' && !(await isAnotherOperatorLeft(transaction, memberId))) return undefined;
        await transaction.member.update({ where: { id: memberId }, data: { role } });
        await transaction.auditEntry.create({ data: auditEntryRow(audit) });
        return replaceSessions(transaction, memberId, audit.createdAt);
      });
    },
  };
}

/**
 * Whether the member is no operator, or another one who is not disabled remains. Locks all operators in one order, so that two who
 * demote or disable each other concurrently do not both succeed.
 */
async function isAnotherOperatorLeft(transaction: AuthTransaction, memberId: string): Promise<boolean> {
  const operators = await transaction.$queryRaw<readonly { id: string; is_enabled: boolean }[]>`
    select id, disabled_at is null as is_enabled from members where role = 'operator' order by id for update`;
  const others = operators.filter(({ id }) => id !== memberId);
  return others.length === operators.length || others.some(({ is_enabled: isEnabled }) => isEnabled);
}

/** Whether the error is a violation of a unique constraint. */
export function isUniqueViolation(error: unknown): boolean {
  return error instanceof Prisma.PrismaClientKnownRequestError && error.code === 'P2002';
}
