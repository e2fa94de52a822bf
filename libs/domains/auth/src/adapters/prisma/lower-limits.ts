import type { AuditEntry } from '@gateway/auth-shared';
import type { AuthTransaction } from '@gateway/auth-shared/adapters';
import type { KeyLimits, ProjectBudgets } from '../../core/model';

/**
 * Lowers each limit of an active key of the organization, or of one of its projects, and returns the ids of those keys.
 * It runs before the organization or project is changed, because the database never accepts a key above either. The
 * keys are locked in the order of their ids.
 */
export async function lowerKeys(
  transaction: AuthTransaction,
  {
    organizationId,
    projectId = null,
  }: { readonly organizationId: string; readonly projectId?: string | null },
  limits: KeyLimits,
): Promise<readonly string[]> {
  const requests = limits.requestsPerMinute ?? null;
  const tokens = limits.tokensPerMinute ?? null;
  const daily = limits.dailyBudgetNanoUsd ?? null;
  const monthly = limits.monthlyBudgetNanoUsd ?? null;
  const total = limits.totalBudgetNanoUsd ?? null;
  const concurrency = limits.concurrency ?? null;
  const lowered = await transaction.$queryRaw<{ readonly id: string }[]>`
    with above as (
      select id from api_keys
      where organization_id = ${organizationId} and revoked_at is null
        and (${projectId}::text is null or project_id = ${projectId}) and (
        requests_per_minute > ${requests}::int or tokens_per_minute > ${tokens}::int
        or daily_budget_nano_usd > ${daily}::bigint or monthly_budget_nano_usd > ${monthly}::bigint
        or total_budget_nano_usd > ${total}::bigint or concurrency > ${concurrency}::int
      )
      order by id for no key update
    )
    update api_keys as key set
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
    from above where key.id = above.id
    returning key.id`;
  return lowered.map(({ id }) => id).sort();
}

/** As `lowerKeys`, for the budgets of the organization's projects. It runs after it: a key is never above its project. */
export async function lowerProjects(
  transaction: AuthTransaction,
  organizationId: string,
  budgets: ProjectBudgets,
): Promise<readonly string[]> {
  const daily = budgets.dailyBudgetNanoUsd ?? null;
  const monthly = budgets.monthlyBudgetNanoUsd ?? null;
  const total = budgets.totalBudgetNanoUsd ?? null;
  const lowered = await transaction.$queryRaw<{ readonly id: string }[]>`
    update projects set
      daily_budget_nano_usd = case
        when daily_budget_nano_usd > ${daily}::bigint then ${daily}::bigint else daily_budget_nano_usd end,
      monthly_budget_nano_usd = case
        when monthly_budget_nano_usd > ${monthly}::bigint then ${monthly}::bigint else monthly_budget_nano_usd end,
      total_budget_nano_usd = case
        when total_budget_nano_usd > ${total}::bigint then ${total}::bigint else total_budget_nano_usd end,
      version = version + 1
    where organization_id = ${organizationId} and (
      daily_budget_nano_usd > ${daily}::bigint or monthly_budget_nano_usd > ${monthly}::bigint
      or total_budget_nano_usd > ${total}::bigint
    )
    returning id`;
  return lowered.map(({ id }) => id).sort();
}

/** The audit entry with the ids of what was lowered, without empty lists. */
export function withLowered(
  audit: AuditEntry,
  lowered: Readonly<Record<string, readonly string[]>>,
): AuditEntry {
  const lists = Object.entries(lowered).filter(([, ids]) => ids.length > 0);
  return { ...audit, details: { ...audit.details, ...Object.fromEntries(lists) } };
}
