import { nanoUsd, type UnixMs } from '@gateway/base';
import type { PoolClient } from 'pg';
import type { StatementLine, StatementQuery } from '../../core/statement';

/**
 * $1 organization, $2 and $3 the month or day, $4 to $6 the last line of the previous page
 * or nulls, $7 max lines. Excludes movements between available and held.
 */
const lines = (comparison: '<' | '>', order: 'asc' | 'desc') => `
  select posting.reference, posting.kind, posting.posted_unix_ms,
         posting.credit_nano_usd + posting.held_nano_usd as amount, credit.note
  from postings posting
  left join credits credit on posting.kind = 'credit' and credit.credit_id = posting.reference
  where posting.organization_id = $1
    and posting.posted_unix_ms >= $2 and posting.posted_unix_ms < $3
    and posting.credit_nano_usd + posting.held_nano_usd <> 0
    and ($4::bigint is null
      or (posting.posted_unix_ms, posting.reference, posting.kind) ${comparison} ($4, $5, $6))
  order by posting.posted_unix_ms ${order}, posting.reference ${order}, posting.kind ${order}
  limit $7`;
const OLDEST_FIRST = lines('>', 'asc');
const NEWEST_FIRST = lines('<', 'desc');

interface LineRow {
  readonly reference: string;
  readonly kind: 'credit' | 'settlement';
  readonly posted_unix_ms: bigint;
  readonly amount: bigint;
  readonly note: string | null;
}

/** Lines with the balance after each, starting from the range's opening or closing balance or the previous page. */
export async function readLines(
  client: PoolClient,
  { organizationId, oldestFirst, after, limit }: StatementQuery,
  range: { readonly start: UnixMs; readonly end: UnixMs },
  sums: { readonly openingNanoUsd: bigint; readonly closingNanoUsd: bigint },
): Promise<readonly StatementLine[]> {
  // Narrow the range to the lines after the cursor.
  const start = oldestFirst && after ? after.posted : range.start;
  const end = !oldestFirst && after ? after.posted + 1 : range.end;
  const { rows } = await client.query<LineRow>(oldestFirst ? OLDEST_FIRST : NEWEST_FIRST, [
    organizationId,
    start,
    end,
    after?.posted ?? null,
    after?.reference ?? null,
    after?.kind ?? null,
    limit,
  ]);
  let balance = after?.balanceNanoUsd ?? (oldestFirst ? sums.openingNanoUsd : sums.closingNanoUsd);
  return rows.map((row) => {
    if (oldestFirst) balance += row.amount;
    const line: StatementLine = {
      kind: row.kind === 'credit' && row.amount < 0n ? 'correction' : row.kind,
      reference: row.reference,
      posted: Number(row.posted_unix_ms) as UnixMs,
      amountNanoUsd: nanoUsd(row.amount),
      balanceNanoUsd: nanoUsd(balance),
      note: row.note ?? undefined,
    };
    if (!oldestFirst) balance -= row.amount;
    return line;
  });
}
