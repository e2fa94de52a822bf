import type { AuditStore } from '../../core/ports';
import type { AuthPrisma } from './client';
import { newestFirst } from './page';
import { auditEntryOf, auditEntryRow } from './rows';

export function createPrismaAuditStore(prisma: AuthPrisma): AuditStore {
  return {
    async insert(entry) {
      await prisma.auditEntry.create({ data: auditEntryRow(entry) });
    },

    async complete(id, outcome) {
      const { count } = await prisma.auditEntry.updateMany({
        where: { id, outcome: { in: ['started', outcome] } },
        data: { outcome },
      });
      return count === 0 ? 'not_started' : 'completed';
    },

    async list(organizationId, page) {
      const { where, ...order } = newestFirst(page);
      const rows = await prisma.auditEntry.findMany({
        where: { ...where, ...(organizationId === undefined ? {} : { organizationId }) },
        ...order,
      });
      return rows.map(auditEntryOf);
    },
  };
}
