import type { SecondFactorStore } from '../../core/ports';
import type { AuditEntry } from '@gateway/auth-shared';
import { type AuthPrisma, type AuthTransaction, auditEntryRow } from '@gateway/auth-shared/adapters';
import { endSessions, lockUnchanged, replaceSessions } from './sessions';

export function createPrismaSecondFactorStore(prisma: AuthPrisma): SecondFactorStore {
  const codeRows = (memberId: string, codes: readonly Buffer[]) =>
    codes.map((code) => ({ memberId, codeSha256: Uint8Array.from(code) }));

  return {
    enrol(memberId, encryptedSecret, audit) {
      return prisma.$transaction(async (transaction) => {
        const { count } = await transaction.member.updateMany({
          where: { id: memberId, totpConfirmedAt: null },
          data: { totpSecret: encryptedSecret, totpLastStep: null },
        });
        if (count === 0) return false;
        await transaction.auditEntry.create({ data: auditEntryRow(audit) });
        return true;
      });
    },

    confirm(checked, sessionId, recoveryCodes, at, audit, opened) {
      const memberId = checked.id;
      return prisma.$transaction(async (transaction) => {
        if (!(await lockUnchanged(transaction, checked, sessionId))) return undefined;
        const { count } = await transaction.member.updateMany({
          where: { id: memberId, totpSecret: checked.totp?.encryptedSecret ?? null },
          data: { totpConfirmedAt: new Date(at) },
        });
        if (count === 0) return undefined;
        await transaction.recoveryCode.deleteMany({ where: { memberId } });
        await transaction.recoveryCode.createMany({ data: codeRows(memberId, recoveryCodes) });
        await transaction.auditEntry.createMany({ data: [audit, opened.audit].map(auditEntryRow) });
        return replaceSessions(transaction, memberId, at, opened);
      });
    },

    async consumeStep(memberId, step) {
      const { count } = await prisma.member.updateMany({
        where: { id: memberId, OR: [{ totpLastStep: null }, { totpLastStep: { lt: BigInt(step) } }] },
        data: { totpLastStep: BigInt(step) },
      });
      return count === 1;
    },

    async consumeRecoveryCode(memberId, codeSha256) {
      const where = { memberId, codeSha256: Uint8Array.from(codeSha256) };
      const { count } = await prisma.recoveryCode.deleteMany({ where });
      return count === 1;
    },

    async replaceRecoveryCodes(memberId, recoveryCodes, audit) {
      await prisma.$transaction([
        prisma.recoveryCode.deleteMany({ where: { memberId } }),
        prisma.recoveryCode.createMany({ data: codeRows(memberId, recoveryCodes) }),
        prisma.auditEntry.create({ data: auditEntryRow(audit) }),
      ]);
    },

    async remove(memberId, audit) {
      await prisma.$transaction((transaction) => remove(transaction, memberId, audit));
    },

    reset(memberId, audit) {
      return prisma.$transaction(async (transaction) => {
        await remove(transaction, memberId, audit);
        return endSessions(transaction, { memberId }, audit.createdAt);
      });
    },
  };
}

async function remove(transaction: AuthTransaction, memberId: string, audit: AuditEntry): Promise<void> {
  const data = { totpSecret: null, totpConfirmedAt: null, totpLastStep: null };
  await transaction.member.update({ where: { id: memberId }, data });
  await transaction.recoveryCode.deleteMany({ where: { memberId } });
  await transaction.auditEntry.create({ data: auditEntryRow(audit) });
}
