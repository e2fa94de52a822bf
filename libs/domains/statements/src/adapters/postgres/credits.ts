import { nanoUsd, type UnixMs } from '@gateway/base';
import type { Pool } from 'pg';
import { rangeOf, type Credit, type CreditQuery } from '../../core/statement';

/** $1 organization, $2 and $3 the month, $4 and $5 the last credit of the previous page or nulls, $6 max rows. */
const NEWEST_FIRST = `
  select credit_id, amount_nano_usd, note, added_unix_ms
  from credits
  where organization_id = $1 and added_unix_ms >= $2 and added_unix_ms < $3
    and ($4::bigint is null or (added_unix_ms, credit_id) < ($4, $5))
  order by added_unix_ms desc, credit_id desc
  limit $6`;

interface CreditRow {
  readonly credit_id: string;
  readonly amount_nano_usd: bigint;
  readonly note: string;
  readonly added_unix_ms: bigint;
}

/** Reads the few credits themselves, since most postings are settlements. */
export async function listCredits(
  pool: Pool,
  { organizationId, month, after, limit }: CreditQuery,
): Promise<readonly Credit[]> {
  const { start, end } = rangeOf(month);
  const { rows } = await pool.query<CreditRow>(NEWEST_FIRST, [
    organizationId,
    start,
    end,
    after?.posted ?? null,
    after?.creditId ?? null,
    limit,
  ]);
  return rows.map((row) => ({
    creditId: row.credit_id,
    posted: Number(row.added_unix_ms) as UnixMs,
    amountNanoUsd: nanoUsd(row.amount_nano_usd),
    note: row.note,
  }));
}
