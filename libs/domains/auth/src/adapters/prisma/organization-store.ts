import { isRefusal } from '@gateway/errors';
import { effectiveLimits } from '../../core/organizations/limits';
import type { OrganizationStore } from '../../core/ports';
import {
  type AuthPrisma,
  appendInvalidation,
  containing,
  lastInvalidation,
  newestFirst,
  auditEntryRow,
  lockOrganization,
} from '@gateway/auth-shared/adapters';
import { lowerKeys, lowerProjects, withLowered } from './lower-limits';
import { organizationOf, organizationRow } from './rows';

export function createPrismaOrganizationStore(prisma: AuthPrisma): OrganizationStore {
  return {
    async insert(organization, audit) {
      await prisma.$transaction([
        prisma.organization.create({ data: organizationRow(organization) }),
        prisma.auditEntry.create({ data: auditEntryRow(audit) }),
      ]);
    },

    async find(id) {
      const row = await prisma.organization.findUnique({ where: { id } });
      return row ? organizationOf(row) : undefined;
    },

    async list(page, { memberId, organizationId, ids, search, suspended }) {
      const { where, ...order } = newestFirst(page);
      const own = memberId === undefined ? {} : { memberships: { some: { memberId } } };
      const one = organizationId === undefined ? {} : { id: organizationId };
      const some = ids === undefined ? {} : { id: { in: [...ids] } };
      const state = suspended === undefined ? {} : { suspended };
      const found =
        search === undefined ? {} : { OR: [{ name: containing(search) }, { id: containing(search) }] };
      const rows = await prisma.organization.findMany({
        where: { AND: [where, own, one, some, found, state] },
        ...order,
      });
      return rows.map(organizationOf);
    },

    change(id, decide) {
      return prisma.$transaction(async (transaction) => {
        await lockOrganization(transaction, id, 'for update');
        const row = await transaction.organization.findUnique({ where: { id } });
        if (!row) return undefined;
        const decision = decide(organizationOf(row));
        if (isRefusal(decision)) return decision;
        const { value } = decision;
        if (decision.kind === 'unchanged') {
          return { kind: 'committed', value, sequence: await lastInvalidation(transaction) };
        }
        const limits = effectiveLimits(value);
        const lowered = {
          lowered_keys: await lowerKeys(transaction, { organizationId: id }, limits),
          lowered_projects: await lowerProjects(transaction, id, limits),
        };
        await transaction.organization.update({ where: { id }, data: organizationRow(value) });
        await transaction.auditEntry.create({ data: auditEntryRow(withLowered(decision.audit, lowered)) });
        const sequence = await appendInvalidation(transaction, { organizationId: id });
        return { kind: 'committed', value, sequence };
      });
    },
  };
}
