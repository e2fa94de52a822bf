import type { AuditEntry } from '@gateway/auth-shared';
import { Prisma, type AuthTransaction } from '@gateway/auth-shared/adapters';
import type { BudgetName, KeyLimits, ProjectBudgets } from '../../core/model';

/** The column of each limit that has a bound. Projects have the budgets only. */
const BUDGET_COLUMNS = {
  dailyBudgetNanoUsd: 'daily_budget_nano_usd',
  weeklyBudgetNanoUsd: 'weekly_budget_nano_usd',
  monthlyBudgetNanoUsd: 'monthly_budget_nano_usd',
  totalBudgetNanoUsd: 'total_budget_nano_usd',
} as const satisfies Record<BudgetName, string>;
const KEY_COLUMNS = {
  requestsPerMinute: 'requests_per_minute',
  tokensPerMinute: 'tokens_per_minute',
  concurrency: 'concurrency',
  ...BUDGET_COLUMNS,
} as const satisfies Record<Exclude<keyof KeyLimits, 'otherBudgets'>, string>;

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
  limits: Omit<KeyLimits, 'otherBudgets'>,
): Promise<readonly string[]> {
  const { isAbove, lowered } = loweringOf<keyof typeof KEY_COLUMNS>(KEY_COLUMNS, limits);
  const rows = await transaction.$queryRaw<{ readonly id: string }[]>`
    with above as (
      select id from api_keys
      where organization_id = ${organizationId} and revoked_at is null
        and (${projectId}::text is null or project_id = ${projectId}) and (${isAbove})
      order by id for no key update
    )
    update api_keys as key set ${lowered}, version = version + 1
    from above where key.id = above.id
    returning key.id`;
  return rows.map(({ id }) => id).sort();
}

/** As `lowerKeys`, for the budgets of the organization's projects. It runs after it: a key is never above its project. */
export async function lowerProjects(
  transaction: AuthTransaction,
  organizationId: string,
  budgets: Pick<ProjectBudgets, BudgetName>,
): Promise<readonly string[]> {
  const { isAbove, lowered } = loweringOf<BudgetName>(BUDGET_COLUMNS, budgets);
  const rows = await transaction.$queryRaw<{ readonly id: string }[]>`
    update projects set ${lowered}, version = version + 1
    where organization_id = ${organizationId} and (${isAbove})
    returning id`;
  return rows.map(({ id }) => id).sort();
}

/** A row without a limit is not above any, so `least` would give it one. */
function loweringOf<Name extends string>(
  columns: Readonly<Record<Name, string>>,
  limits: Readonly<Partial<Record<Name, number | bigint>>>,
) {
  const parts = (Object.entries(columns) as [Name, string][]).map(([name, text]) => {
    const column = Prisma.raw(text);
    const limit = Prisma.sql`${limits[name] ?? null}::bigint`;
    const above = Prisma.sql`${column} > ${limit}`;
    return { above, lowered: Prisma.sql`${column} = case when ${above} then ${limit} else ${column} end` };
  });
  return {
    isAbove: Prisma.join(
      parts.map(({ above }) => above),
      ' or ',
    ),
    lowered: Prisma.join(parts.map(({ lowered }) => lowered)),
  };
}

/** The audit entry with the ids of what was lowered, without empty lists. */
export function withLowered(
  audit: AuditEntry,
  lowered: Readonly<Record<string, readonly string[]>>,
): AuditEntry {
  const lists = Object.entries(lowered).filter(([, ids]) => ids.length > 0);
  return { ...audit, details: { ...audit.details, ...Object.fromEntries(lists) } };
}
