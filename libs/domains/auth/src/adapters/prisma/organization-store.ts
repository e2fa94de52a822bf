import { isRefusal } from '@gateway/errors';
import type { AuditEntry } from '@gateway/auth-shared';
import type { Organization } from '../../core/model';
import { effectiveLimits } from '../../core/organizations/limits';
import type { OrganizationStore } from '../../core/ports';
import {
  type AuthPrisma,
  type AuthTransaction,
  appendInvalidation,
  containing,
  lastInvalidation,
  newestFirst,
  auditEntryRow,
  lockOrganization,
} from '@gateway/auth-shared/adapters';
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

    async list(page, { memberId, organizationId, search }) {
      const { where, ...order } = newestFirst(page);
      const own = memberId === undefined ? {} : { memberships: { some: { memberId } } };
      const one = organizationId === undefined ? {} : { id: organizationId };
      const found =
        search === undefined ? {} : { OR: [{ name: containing(search) }, { id: containing(search) }] };
      const rows = await prisma.organization.findMany({ where: { AND: [where, own, one, found] }, ...order });
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
        const loweredKeys = await lowerKeys(transaction, value);
        await transaction.organization.update({ where: { id }, data: organizationRow(value) });
        await transaction.auditEntry.create({
          data: auditEntryRow(withLoweredKeys(decision.audit, loweredKeys)),
        });
        const sequence = await appendInvalidation(transaction, { organizationId: id });
        return { kind: 'committed', value, sequence };
      });
    },
  };
}

/**
 * Lowers each limit of an active key that is above the organization's, and returns the IDs of those keys. It runs
 * before the organization is changed, because the database never accepts a key above its organization.
 */
async function lowerKeys(
  transaction: AuthTransaction,
  organization: Organization,
): Promise<readonly string[]> {
  const limits = effectiveLimits(organization);
  const requests = limits.requestsPerMinute ?? null;
  const tokens = limits.tokensPerMinute ?? null;
  const daily = limits.dailyBudgetNanoUsd ?? null;
  const monthly = limits.monthlyBudgetNanoUsd ?? null;
  const total = limits.totalBudgetNanoUsd ?? null;
  const concurrency = limits.concurrency ?? null;
  const lowered = await transaction.$queryRaw<{ readonly id: string }[]>`
    update api_keys set
      requests_per_minute = case
        when requests_per_minute > ${requests}::int then ${requests}::int else requests_per_minute end,
      tokens_per_minute = case when tokens_per_minute > ${tokens}::int then ${tokens}::int else tokens_per_minute end,
      daily_budget_nano_usd = case
        when daily_budget_nano_usd > ${daily}::bigint then ${daily}::bigint else daily_budget_nano_usd end,
      monthly_budget_nano_usd = case
        when monthly_budget_nano_usd > ${monthly}::bigint then ${monthly}::bigint else monthly_budget_nano_usd end,
      total_budget_nano_usd = case
        when total_budget_nano_usd > ${total}::bigint then ${total}::bigint else total_budget_nano_usd end,
      concurrency = case when concurrency > ${concurrency}::int then ${concurrency}::int else concurrency end,
      version = version + 1
    where organization_id = ${organization.id} and revoked_at is null and (
      requests_per_minute > ${requests}::int or tokens_per_minute > ${tokens}::int
      or daily_budget_nano_usd > ${daily}::bigint or monthly_budget_nano_usd > ${monthly}::bigint
      or total_budget_nano_usd > ${total}::bigint or concurrency > ${concurrency}::int
    )
    returning id`;
  return lowered.map(({ id }) => id).sort();
}

function withLoweredKeys(audit: AuditEntry, keys: readonly string[]): AuditEntry {
  return keys.length === 0 ? audit : { ...audit, details: { ...audit.details, lowered_keys: [...keys] } };
}
