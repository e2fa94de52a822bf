import { isRefusal } from '@gateway/errors';
import {
  appendInvalidation,
  auditEntryRow,
  lastInvalidation,
  lockOrganization,
  newestFirst,
  type AuthPrisma,
} from '@gateway/auth-shared/adapters';
import type { ProjectStore } from '../../core/ports';
import { lowerKeys, withLowered } from './lower-limits';
import { organizationOf, projectOf, projectRow } from './rows';

/**
 * Every write locks the organization as a change of its limits does, so its keys, which are written under a shared lock,
 * stay as they are meanwhile.
 */
export function createPrismaProjectStore(prisma: AuthPrisma): ProjectStore {
  return {
    insert(organizationId, decide) {
      return prisma.$transaction(async (transaction) => {
        await lockOrganization(transaction, organizationId, 'for update');
        const organization = await transaction.organization.findUnique({ where: { id: organizationId } });
        if (!organization) return undefined;
        const projects = await transaction.project.count({ where: { organizationId, archivedAt: null } });
        const decision = decide(organizationOf(organization), projects);
        if (isRefusal(decision) || decision.kind === 'unchanged') {
          return isRefusal(decision) ? decision : decision.value;
        }
        await transaction.project.create({ data: projectRow(decision.value) });
        await transaction.auditEntry.create({ data: auditEntryRow(decision.audit) });
        return decision.value;
      });
    },

    async list(organizationId, page, { archived, ids }) {
      const { where, ...order } = newestFirst(page);
      const rows = await prisma.project.findMany({
        where: {
          AND: [
            { organizationId },
            where,
            archived === undefined ? {} : { archivedAt: archived ? { not: null } : null },
            ids === undefined ? {} : { id: { in: [...ids] } },
          ],
        },
        ...order,
      });
      return rows.map(projectOf);
    },

    change(organizationId, id, decide) {
      return prisma.$transaction(async (transaction) => {
        await lockOrganization(transaction, organizationId, 'for update');
        const row = await transaction.project.findFirst({
          where: { id, organizationId },
          include: { organization: true },
        });
        if (!row) return undefined;
        const activeKeys = await transaction.apiKey.count({ where: { projectId: id, revokedAt: null } });
        const decision = decide(projectOf(row), organizationOf(row.organization), activeKeys);
        if (isRefusal(decision)) return decision;
        const { value } = decision;
        if (decision.kind === 'unchanged') {
          return { kind: 'committed', value, sequence: await lastInvalidation(transaction) };
        }
        const keys = await lowerKeys(transaction, { organizationId, projectId: id }, value.budgets);
        await transaction.project.update({ where: { id }, data: projectRow(value) });
        await transaction.auditEntry.create({
          data: auditEntryRow(withLowered(decision.audit, { lowered_keys: keys })),
        });
        const sequence = await appendInvalidation(transaction, { organizationId });
        return { kind: 'committed', value, sequence };
      });
    },
  };
}
