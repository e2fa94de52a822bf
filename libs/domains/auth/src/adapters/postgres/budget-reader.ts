import { nanoUsd } from '@gateway/base';
import type { Pool } from 'pg';
import type { BudgetReader } from '../../core/ports';

/** $1 organization, $2 the last owner of the previous page or null, $3 limit. A ceiling applies where there is no limit. */
const LIST_OWNERS = `
  select * from (
    select '' as owner_id, name,
      coalesce(daily_budget_nano_usd, ceiling_daily_budget_nano_usd) as daily,
      coalesce(monthly_budget_nano_usd, ceiling_monthly_budget_nano_usd) as monthly,
      coalesce(total_budget_nano_usd, ceiling_total_budget_nano_usd) as total
    from organizations where id = $1
    union all
    select id, name, daily_budget_nano_usd, monthly_budget_nano_usd, total_budget_nano_usd
    from projects where organization_id = $1 and archived_at is null
    union all
    select id, name, daily_budget_nano_usd, monthly_budget_nano_usd, total_budget_nano_usd
    from api_keys where organization_id = $1 and revoked_at is null and session_id is null
  ) owner
  where ($2::text is null or owner_id > $2) and coalesce(daily, monthly, total) is not null
  order by owner_id
  limit $3`;

const LIST_EMAILS = `
  select m.email
  from memberships s join members m on m.id = s.member_id
  where s.organization_id = $1 and s.role = any ($2::text[]) and m.disabled_at is null
  order by m.email
  limit $3`;

interface OwnerRow {
  readonly owner_id: string;
  readonly name: string;
  readonly daily: bigint | null;
  readonly monthly: bigint | null;
  readonly total: bigint | null;
}

export function createPostgresBudgetReader(pool: Pool): BudgetReader {
  return {
    async listOwners(organizationId, after, limit) {
      const { rows } = await pool.query<OwnerRow>(LIST_OWNERS, [organizationId, after ?? null, limit]);
      return rows.map(({ owner_id: ownerId, name, daily, monthly, total }) => ({
        ownerId,
        name,
        budgets: {
          ...(daily === null ? {} : { dailyBudgetNanoUsd: nanoUsd(daily) }),
          ...(monthly === null ? {} : { monthlyBudgetNanoUsd: nanoUsd(monthly) }),
          ...(total === null ? {} : { totalBudgetNanoUsd: nanoUsd(total) }),
        },
      }));
    },

    async listEmails(organizationId, roles, limit) {
      const { rows } = await pool.query<{ email: string }>(LIST_EMAILS, [organizationId, [...roles], limit]);
      return rows.map(({ email }) => email);
    },
  };
}
