import type { UnixMs } from '@gateway/base';
import type { AuditFilter, AuditStore } from '../../core/ports';
import { type AuthPrisma, newestFirst } from '@gateway/auth-shared/adapters';
import { auditEntryOf } from './rows';

export function createPrismaAuditStore(prisma: AuthPrisma): AuditStore {
  return {
    async list(filter, page) {
      const { where, ...order } = newestFirst(page);
      const rows = await prisma.auditEntry.findMany({ where: { ...where, ...whereOf(filter) }, ...order });
      return rows.map(auditEntryOf);
    },
  };
}

function whereOf({ organizationId, action, actorId, target, since, until }: AuditFilter) {
  return {
    ...(organizationId === undefined ? {} : { organizationId }),
    ...(action === undefined ? {} : { action: action.endsWith('.') ? { startsWith: action } : action }),
    ...(actorId === undefined ? {} : { actorId }),
    ...(target === undefined ? {} : { target }),
    ...(since === undefined && until === undefined ? {} : { createdAt: between(since, until) }),
  };
}

function between(since: UnixMs | undefined, until: UnixMs | undefined) {
  return {
    ...(since === undefined ? {} : { gte: new Date(since) }),
    ...(until === undefined ? {} : { lt: new Date(until) }),
  };
}
