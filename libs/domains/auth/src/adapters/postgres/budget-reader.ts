import type { BudgetScope } from '@gateway/base';
import type { Pool } from 'pg';
import type { BudgetReader } from '../../core/ports';
import { readTimeZones } from './read-time-zones';
import type { OtherBudgetRow } from '../other-budgets';
import {
  budgetColumns,
  budgetsOf,
  budgetsOfRows,
  effectiveBudgetColumns,
  type BudgetAmounts,
} from './budget-columns';

/** $1 organization, $2 the last owner of the previous page or null, $3 limit. */
const LIST_OWNERS = `
  select * from (
    select 'organization' as scope, '' as owner_id, name, ${effectiveBudgetColumns('o')} as budgets,
      other_budgets
    from organizations o where id = $1
    union all
    select 'project', id, name, ${budgetColumns('p')}, other_budgets
    from projects p where organization_id = $1 and archived_at is null
    union all
    select 'key', id, name, ${budgetColumns('k')}, other_budgets
    from api_keys k where organization_id = $1 and revoked_at is null and session_id is null
  ) owner
  where ($2::text is null or owner_id > $2)
    and (cardinality(array_remove(budgets, null)) > 0 or other_budgets <> '[]')
  order by owner_id
  limit $3`;

const LIST_EMAILS = `
  select m.email
  from memberships s join members m on m.id = s.member_id
  where s.organization_id = $1 and s.role = any ($2::text[]) and m.disabled_at is null
  order by m.email
  limit $3`;

interface OwnerRow {
  readonly scope: BudgetScope;
  readonly owner_id: string;
  readonly name: string;
  readonly budgets: BudgetAmounts;
  readonly other_budgets: readonly OtherBudgetRow[];
}

export function createPostgresBudgetReader(pool: Pool): BudgetReader {
  return {
    async listOwners(organizationId, after, limit) {
      const { rows } = await pool.query<OwnerRow>(LIST_OWNERS, [organizationId, after ?? null, limit]);
      return rows.map(({ scope, owner_id: ownerId, name, budgets, other_budgets: others }) => ({
        ownerId,
        name,
        budgets: [...budgetsOf(scope, ownerId, budgets), ...budgetsOfRows(scope, ownerId, others)],
      }));
    },

    async nameOf(organizationId) {
      const { rows } = await pool.query<{ name: string }>('select name from organizations where id = $1', [
        organizationId,
      ]);
      return rows[0]?.name;
    },

    async listEmails(organizationId, roles, limit) {
      const { rows } = await pool.query<{ email: string }>(LIST_EMAILS, [organizationId, [...roles], limit]);
      return rows.map(({ email }) => email);
    },

    timeZonesOf: (emails) => readTimeZones(pool, emails),
  };
}
