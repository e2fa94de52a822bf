import { isRefusal } from '@gateway/errors';
import type { KeyStore } from '../../core/ports';
import type { AuthPrisma } from './client';
import { appendInvalidation, lastInvalidation } from './invalidations';
import { lockOrganization } from './organization-store';
import { newestFirst } from './page';
import { apiKeyOf, apiKeyRow, auditEntryRow, organizationOf } from './rows';

const WITHOUT_HASH = { sha256: true } as const;

export function createPrismaKeyStore(prisma: AuthPrisma): KeyStore {
  return {
    insert(organizationId, decide) {
      return prisma.$transaction(async (transaction) => {
        // Shared: its limits must not fall below the new key's caps before the key is there.
        await lockOrganization(transaction, organizationId, 'for share');
        const organization = await transaction.organization.findUnique({ where: { id: organizationId } });
        if (!organization) return undefined;
        const decision = decide(organizationOf(organization));
        if (isRefusal(decision)) return decision;
        const { key, sha256 } = decision.value;
        if (decision.kind === 'keep') return key;
        await transaction.apiKey.create({ data: { ...apiKeyRow(key), sha256: Uint8Array.from(sha256) } });
        await transaction.auditEntry.create({ data: auditEntryRow(decision.audit) });
        return key;
      });
    },

    async find(organizationId, id) {
      const row = await prisma.apiKey.findFirst({ where: { id, organizationId }, omit: WITHOUT_HASH });
      return row ? apiKeyOf(row) : undefined;
    },

    async list(organizationId, page) {
      const { where, ...order } = newestFirst(page);
      const rows = await prisma.apiKey.findMany({
        where: { ...where, organizationId },
        ...order,
        omit: WITHOUT_HASH,
      });
      return rows.map(apiKeyOf);
    },

    change(organizationId, id, decide) {
      return prisma.$transaction(async (transaction) => {
        await lockOrganization(transaction, organizationId, 'for share');
        await transaction.$queryRaw`select 1 from api_keys where id = ${id} for update`;
        const row = await transaction.apiKey.findFirst({
          where: { id, organizationId },
          include: { organization: true },
        });
        if (!row) return undefined;
        const decision = decide(apiKeyOf(row), organizationOf(row.organization));
        if (isRefusal(decision)) return decision;
        const { value } = decision;
        if (decision.kind === 'keep') {
          return { kind: 'committed', value, sequence: await lastInvalidation(transaction) };
        }
        await transaction.apiKey.update({ where: { id }, data: apiKeyRow(value) });
        await transaction.auditEntry.create({ data: auditEntryRow(decision.audit) });
        const sequence = await appendInvalidation(transaction, { keySha256: row.sha256 });
        return { kind: 'committed', value, sequence };
      });
    },
  };
}
