import type { UnixMs } from '@gateway/base';
import type { OrganizationDomain } from '../../core/model';
import type { DomainStore } from '../../core/single-sign-on/ports';
import { type AuthPrisma, type Prisma, auditEntryRow, lockRoles } from '@gateway/auth-shared/adapters';
import { isUniqueViolation } from './member-store';

export function createPrismaDomainStore(prisma: AuthPrisma): DomainStore {
  return {
    async find(domain) {
      const row = await prisma.organizationDomain.findUnique({ where: { domain } });
      return row ? domainOf(row) : undefined;
    },

    async list(organizationId) {
      const rows = await prisma.organizationDomain.findMany({
        where: { organizationId },
        orderBy: { domain: 'asc' },
      });
      return rows.map(domainOf);
    },

    async map({ domain, organizationId, role, mappedBy, mappedAt }, { actorId, permits }, max, audit) {
      try {
        return await prisma.$transaction(async (transaction) => {
          // Serializes concurrent calls, so that they cannot exceed `max` together.
          if (!permits(await lockRoles(transaction, actorId, organizationId))) return 'forbidden';
          const row = await transaction.organizationDomain.findUnique({ where: { domain } });
          if (row && row.organizationId !== organizationId) return 'mapped_elsewhere';
          const count = row ? 0 : await transaction.organizationDomain.count({ where: { organizationId } });
          if (count >= max) return 'too_many';
          const data = { role, mappedBy, createdAt: new Date(mappedAt) };
          await transaction.organizationDomain.upsert({
            where: { domain },
            create: { domain, organizationId, ...data },
            update: data,
          });
          const entry = audit(row ? domainOf(row) : undefined);
          await transaction.auditEntry.create({ data: auditEntryRow(entry) });
          return 'mapped';
        });
      } catch (error) {
        // Another organization mapped the domain concurrently.
        if (isUniqueViolation(error)) return 'mapped_elsewhere';
        throw error;
      }
    },

    unmap(organizationId, domain, { actorId, permits }, audit) {
      return prisma.$transaction(async (transaction) => {
        if (!permits(await lockRoles(transaction, actorId, organizationId))) return 'forbidden';
        const row = await transaction.organizationDomain.findFirst({ where: { domain, organizationId } });
        if (!row) return 'not_found';
        await transaction.organizationDomain.delete({ where: { domain } });
        await transaction.auditEntry.create({ data: auditEntryRow(audit(domainOf(row))) });
        return 'unmapped';
      });
    },
  };
}

function domainOf(row: Prisma.OrganizationDomainModel): OrganizationDomain {
  return {
    domain: row.domain,
    organizationId: row.organizationId,
    role: row.role as OrganizationDomain['role'],
    mappedBy: row.mappedBy,
    mappedAt: row.createdAt.getTime() as UnixMs,
  };
}
