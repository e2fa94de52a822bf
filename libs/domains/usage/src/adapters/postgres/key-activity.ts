import { utcDay, type UnixMs } from '@gateway/base';
import type { Pool } from 'pg';
import type { KeyActivity } from '../../core/ports';

/**
 * $1 organization, $2 keys, $3 the first day of the month, $4 today. The last use
 * is one index lookup per key and month, so requests need not store it.
 */
const READ_KEY_ACTIVITY = `
  select wanted.key_id,
         (select max(g.created_unix_ms) from generations g where g.key_id = wanted.key_id and g.organization_id = $1)
           as last_used_unix_ms,
         coalesce(spent.today, 0)::bigint as charged_today,
         coalesce(spent.this_month, 0)::bigint as charged_this_month
  from unnest($2::text[]) with ordinality as wanted (key_id, position)
  left join (
    select key_id,
           sum(charged_nano_usd) filter (where day = $4::date) as today,
           sum(charged_nano_usd) as this_month
    from usage_rollups
    where organization_id = $1 and day between $3::date and $4::date and key_id = any ($2::text[])
    group by key_id
  ) spent on spent.key_id = wanted.key_id
  order by wanted.position`;

interface ActivityRow {
  readonly key_id: string;
  readonly last_used_unix_ms: bigint | null;
  readonly charged_today: bigint;
  readonly charged_this_month: bigint;
}

export async function readKeyActivity(
  pool: Pool,
  organizationId: string,
  keyIds: readonly string[],
  now: UnixMs,
): Promise<readonly KeyActivity[]> {
  const today = utcDay(now);
  const { rows } = await pool.query<ActivityRow>(READ_KEY_ACTIVITY, [
    organizationId,
    keyIds,
    `${today.slice(0, 'YYYY-MM'.length)}-01`,
    today,
  ]);
  return rows.map((row) => ({
    keyId: row.key_id,
    lastUsedAt: row.last_used_unix_ms === null ? undefined : (Number(row.last_used_unix_ms) as UnixMs),
    chargedTodayNanoUsd: row.charged_today,
    chargedThisMonthNanoUsd: row.charged_this_month,
  }));
}
