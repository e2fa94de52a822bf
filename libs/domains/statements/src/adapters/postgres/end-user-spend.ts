import { counterOf } from '@gateway/billing-ledger';
import type { Pool } from 'pg';
import type { EndUserSpend, EndUserSpendQuery } from '../../core/ports';

/**
 * $1 organization, $2 the start of the counters, $3 period, $4 hours of a window, $5 limit. Reads all hours of the key's end
 * users, which are next to each other in the primary key: the other index has the hours of every organization.
 */
const END_USER_SPEND = `
  select end_user, spent, held
  from (
    select substr(counter, length($2::text) + 1) as end_user,
      coalesce(sum(spent_nano_usd) filter (where hour >= first_hour), 0)::bigint as spent,
      sum(held_nano_usd)::bigint as held
    from budget_hours
    cross join (
      select case $3
        when 'window' then date_trunc('hour', now) - make_interval(hours => $4 - 1)
        when 'total' then '-infinity'
        else days.first_day
      end as first_hour
      from (select to_timestamp(now_unix_ms() / 1000.0) at time zone 'UTC') as clock (now)
      cross join budget_periods(clock.now::date) as days
      where days.period = $3
    ) as counted
    where organization_id = $1 and counter >= $2 collate "C" and counter < left($2, -1) || '0' collate "C"
    group by counter
  ) as end_users
  where spent + held > 0
  order by spent + held desc, end_user
  limit $5`;

interface EndUserSpendRow {
  readonly end_user: string;
  readonly spent: bigint;
  readonly held: bigint;
}

export async function listEndUserSpend(
  pool: Pool,
  { organizationId, keyId, period, hours, limit }: EndUserSpendQuery,
): Promise<EndUserSpend[]> {
  // It ends with a slash, whose successor is a zero.
  const start = counterOf({ ownerId: keyId, period, endUser: '' });
  const { rows } = await pool.query<EndUserSpendRow>(END_USER_SPEND, [
    organizationId,
    start,
    period,
    hours,
    limit,
  ]);
  return rows.map(({ end_user, spent, held }) => ({
    endUser: end_user,
    spentNanoUsd: spent,
    heldNanoUsd: held,
  }));
}
