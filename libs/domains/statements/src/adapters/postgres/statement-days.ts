import { DAY_MS, HOUR_MS, utcDay, type UnixMs } from '@gateway/base';
import { LedgerUnavailableError } from '@gateway/billing-ledger/core';
import { inTransaction } from '@gateway/database';
import type { Pool, PoolClient } from 'pg';
import { monthOf, rangeOf, type Movements, type StatementMonth } from '../../core/statement';

/** Postings carry their process's clock and commit later, so a day is summed only after this grace period. */
const GRACE_MS = HOUR_MS;
/** Days summed per statement. */
const DAYS_PER_STATEMENT = 31;
/** How long one request sums days; the next request continues. */
const MAX_SUMMING_MS = 5_000;

const FIRST_POSTING = `
  select posted_unix_ms from postings where organization_id = $1 order by posted_unix_ms limit 1`;

const PROGRESS = `
  insert into statement_progress as progress values ($1, $2)
  on conflict (organization_id) do update set summed_until_unix_ms = progress.summed_until_unix_ms
  returning summed_until_unix_ms`;

const movementsOf = (source: string) => `
  coalesce(sum(credit_nano_usd) filter (where kind = 'credit' and credit_nano_usd > 0), 0)::bigint as added,
  coalesce(sum(credit_nano_usd) filter (where kind = 'credit' and credit_nano_usd < 0), 0)::bigint as corrected,
  coalesce(sum(credit_nano_usd + held_nano_usd) filter (where kind = 'settlement'), 0)::bigint as used
  from ${source}`;

const SUM_UP = `
  insert into statement_days
  select $1, (to_timestamp(posted_unix_ms / 1000) at time zone 'UTC')::date as day, ${movementsOf('postings')}
  where organization_id = $1 and posted_unix_ms >= $2 and posted_unix_ms < $3 and kind in ('credit', 'settlement')
  group by 2`;

const BETWEEN = `
  select ${movementsOf('postings')}
  where organization_id = $1 and posted_unix_ms >= $2 and posted_unix_ms < $3 and kind in ('credit', 'settlement')`;

const BETWEEN_BY_DAY = `
  select to_char(to_timestamp(posted_unix_ms / 1000) at time zone 'UTC', 'YYYY-MM-DD') as day,
         ${movementsOf('postings')}
  where organization_id = $1 and posted_unix_ms >= $2 and posted_unix_ms < $3 and kind in ('credit', 'settlement')
  group by 1`;

const DAYS_BETWEEN = `
  select to_char(day, 'YYYY-MM-DD') as day, added_nano_usd as added, corrected_nano_usd as corrected,
         used_nano_usd as used
  from statement_days where organization_id = $1 and day >= $2::date and day < $3::date`;

const MONTHS = `
  select to_char(day, 'YYYY-MM') as month, sum(added_nano_usd)::bigint as added,
         sum(corrected_nano_usd)::bigint as corrected, sum(used_nano_usd)::bigint as used
  from statement_days where organization_id = $1
  group by 1`;

interface MovementsRow {
  readonly added: bigint;
  readonly corrected: bigint;
  readonly used: bigint;
}

function movementsIn(row: MovementsRow | undefined): Movements {
  return {
    addedNanoUsd: row?.added ?? 0n,
    correctedNanoUsd: row?.corrected ?? 0n,
    usedNanoUsd: row?.used ?? 0n,
  };
}

/** The time of an organization's first posting. */
export async function firstPostingOf(
  db: Pool | PoolClient,
  organizationId: string,
): Promise<UnixMs | undefined> {
  const { rows } = await db.query<{ posted_unix_ms: bigint }>(FIRST_POSTING, [organizationId]);
  return rows[0] && (Number(rows[0].posted_unix_ms) as UnixMs);
}

/**
 * Sums past days, a month at a time.
 *
 * @throws LedgerUnavailableError when the rest takes longer than one request should wait.
 */
export async function sumPastDays(
  pool: Pool,
  organizationId: string,
  first: UnixMs,
  now: UnixMs,
): Promise<void> {
  const endOfPast = Math.floor((now - GRACE_MS) / DAY_MS) * DAY_MS;
  const startedAt = performance.now();
  for (;;) {
    const done = await inTransaction(pool, async (client) => {
      // Locks the row, so that no day is summed twice.
      const { rows } = await client.query<{ summed_until_unix_ms: bigint }>(PROGRESS, [
        organizationId,
        Math.floor(first / DAY_MS) * DAY_MS,
      ]);
      const from = Number(rows[0]?.summed_until_unix_ms);
      if (from >= endOfPast) return true;
      const until = Math.min(from + DAYS_PER_STATEMENT * DAY_MS, endOfPast);
      await client.query(SUM_UP, [organizationId, from, until]);
      await client.query(
        'update statement_progress set summed_until_unix_ms = $2 where organization_id = $1',
        [organizationId, until],
      );
      return until >= endOfPast;
    });
    if (done) return;
    if (performance.now() - startedAt > MAX_SUMMING_MS) {
      throw new LedgerUnavailableError('the days of the statement are still being summed');
    }
  }
}

/** The movements of each month up to now. Consistent if `client` is in a snapshot transaction. */
export async function readMonthlyMovements(
  client: PoolClient,
  organizationId: string,
  account: Movements,
): Promise<Map<string, Movements>> {
  const months = new Map<string, Movements>();
  const { rows } = await client.query<MovementsRow & { month: string }>(MONTHS, [organizationId]);
  for (const { month, ...row } of rows) months.set(month, movementsIn(row));
  const summedUntil = await summedUntilOf(client, organizationId);
  if (summedUntil === 0) return months;

  // The days that are not summed yet are the difference to the account, so their postings are not read.
  // Only postings of a month that has just started are summed separately.
  const summed = [...months.values()];
  let rest: Movements = {
    addedNanoUsd: account.addedNanoUsd - sumOf(summed, 'addedNanoUsd'),
    correctedNanoUsd: account.correctedNanoUsd - sumOf(summed, 'correctedNanoUsd'),
    usedNanoUsd: account.usedNanoUsd - sumOf(summed, 'usedNanoUsd'),
  };
  const month = monthOf(summedUntil);
  const nextMonth = Date.UTC(Number(month.slice(0, 4)), Number(month.slice(5)), 1);
  const later = movementsIn(
    (await client.query<MovementsRow>(BETWEEN, [organizationId, nextMonth, Number.MAX_SAFE_INTEGER])).rows[0],
  );
  rest = subtract(rest, later);
  months.set(month, plus(months.get(month), rest));
  const laterMonth = monthOf(nextMonth);
  if (later.addedNanoUsd || later.correctedNanoUsd || later.usedNanoUsd) {
    months.set(laterMonth, plus(months.get(laterMonth), later));
  }
  return months;
}

/**
 * The movements of each day of a month, up to now. Like months, the first day that is not summed yet is
 * the difference to the month, so its postings are not read. Consistent if `client` is in a snapshot
 * transaction.
 */
export async function readDailyMovements(
  client: PoolClient,
  organizationId: string,
  month: StatementMonth,
): Promise<Map<string, Movements>> {
  const { start, end } = rangeOf(month.month);
  const days = new Map<string, Movements>();
  const read = async (sql: string, from: unknown, until: unknown) => {
    const { rows } = await client.query<MovementsRow & { day: string }>(sql, [organizationId, from, until]);
    for (const { day, ...row } of rows) days.set(day, movementsIn(row));
  };
  await read(DAYS_BETWEEN, utcDay(start), utcDay(end));
  const summedUntil = Math.max(await summedUntilOf(client, organizationId), start);
  if (summedUntil >= end) return days;
  await read(BETWEEN_BY_DAY, summedUntil + DAY_MS, end);
  const others = [...days.values()];
  const first = subtract(month, {
    addedNanoUsd: sumOf(others, 'addedNanoUsd'),
    correctedNanoUsd: sumOf(others, 'correctedNanoUsd'),
    usedNanoUsd: sumOf(others, 'usedNanoUsd'),
  });
  if (first.addedNanoUsd || first.correctedNanoUsd || first.usedNanoUsd) {
    days.set(utcDay(summedUntil as UnixMs), first);
  }
  return days;
}

/** The time up to which days are summed; zero if none is. */
async function summedUntilOf(client: PoolClient, organizationId: string): Promise<number> {
  const { rows } = await client.query<{ summed_until_unix_ms: bigint }>(
    'select summed_until_unix_ms from statement_progress where organization_id = $1',
    [organizationId],
  );
  return Number(rows[0]?.summed_until_unix_ms ?? 0n);
}

function sumOf(movements: readonly Movements[], field: keyof Movements): bigint {
  return movements.reduce((sum, each) => sum + each[field], 0n);
}

function plus(a: Movements | undefined, b: Movements): Movements {
  return {
    addedNanoUsd: (a?.addedNanoUsd ?? 0n) + b.addedNanoUsd,
    correctedNanoUsd: (a?.correctedNanoUsd ?? 0n) + b.correctedNanoUsd,
    usedNanoUsd: (a?.usedNanoUsd ?? 0n) + b.usedNanoUsd,
  };
}

function subtract(a: Movements, b: Movements): Movements {
  return plus(a, {
    addedNanoUsd: -b.addedNanoUsd,
    correctedNanoUsd: -b.correctedNanoUsd,
    usedNanoUsd: -b.usedNanoUsd,
  });
}
