import { insertAuditEntry } from '@gateway/audit';
import { nanoUsd, type Clock, type UnixMs } from '@gateway/base';
import {
  BILLING_LEDGER_SCHEMA,
  counterOf,
  NO_BALANCE,
  type Balance,
  withRetries,
} from '@gateway/billing-ledger';
import { inTransaction } from '@gateway/database';
import type { Pool, PoolClient } from 'pg';
import { PREVIEW_LIFETIME_MS, type CorrectionOutcome } from '../../core/correction';
import type { StatementStore } from '../../core/ports';
import {
  chainDays,
  chainMonths,
  monthOf,
  rangeOf,
  rangeOfDay,
  type Entry,
  type Movements,
  type StatementMonth,
} from '../../core/statement';
import { listCredits } from './credits';
import { listEndUserSpend } from './end-user-spend';
import { readReconciliation } from './reconciler';
import { firstPostingOf, readDailyMovements, readMonthlyMovements, sumPastDays } from './statement-days';
import { readLines } from './statement-lines';

export interface PostgresStatementStoreOptions {
  /** Connects to the schema billing_ledger. The caller ends it. */
  readonly pool: Pool;
  readonly clock: Clock;
}

/** The references of extensions are that of their hold, a plus sign and the amount. */
const ENTRIES = `
  select kind, posted_unix_ms, credit_nano_usd, held_nano_usd, revenue_nano_usd, uncollected_nano_usd
  from postings
  where (reference = $2 or (reference > $2 || '+' and reference < $2 || ',')) and organization_id = $1
  order by posted_unix_ms, array_position(array['credit', 'hold', 'extension', 'void', 'settlement'], kind)`;

const ACCOUNT = `
  select credited_nano_usd, available_nano_usd, held_nano_usd, charged_nano_usd,
         (select coalesce(sum(amount_nano_usd), 0)::bigint from credits
          where organization_id = $1 and amount_nano_usd < 0) as corrected_nano_usd
  from accounts where organization_id = $1`;

/** $1 organizations. */
const BALANCES = `
  select wanted.organization_id,
         coalesce(account.available_nano_usd + account.held_nano_usd, 0)::bigint as balance_nano_usd
  from unnest($1::text[]) with ordinality as wanted (organization_id, position)
  left join accounts account on account.organization_id = wanted.organization_id
  order by wanted.position`;

/** $1 amount, $2 limit. */
const LOW_BALANCES = `
  select organization_id from accounts
  where available_nano_usd + held_nano_usd < $1
  order by available_nano_usd + held_nano_usd, organization_id
  limit $2`;

/** $1 organization, $2 scopes, $3 owners, $4 their counters of models; null: the accounts of the owners. */
const BUDGET_SPEND = `
  select
    (sum(used - held) filter (where period = 'day'))::bigint as today,
    (sum(used - held) filter (where period = 'week'))::bigint as this_week,
    (sum(used - held) filter (where period = 'month'))::bigint as this_month,
    (sum(used - held) filter (where period = 'total'))::bigint as total,
    -- All that is held counts in all time, or in every counter.
    max(held) as held
  from unnest($2::text[], $3::text[], $4::text[]) with ordinality as wanted (scope, owner_id, counter, position)
  cross join (select (to_timestamp(now_unix_ms() / 1000.0) at time zone 'UTC')::date) as today (day)
  cross join budget_periods(today.day) as days
  cross join lateral budget_use(
    $1, wanted.scope, wanted.owner_id, days.period, null,
    case when days.period = 'total' then '*' || wanted.counter else wanted.counter end, today.day, null
  )
  group by wanted.position
  order by wanted.position`;

/** $1 organization, $2 scopes, $3 owners, $4 their counters, $5 the lengths of the windows. */
const WINDOW_SPEND = `
  select wanted.hours, use.used - use.held as spent, use.held
  from unnest($2::text[], $3::text[], $4::text[]) with ordinality as owner (scope, owner_id, counter, position)
  cross join unnest($5::integer[]) with ordinality as wanted (hours, position)
  cross join (select to_timestamp(now_unix_ms() / 1000.0) at time zone 'UTC') as clock (now)
  cross join lateral budget_use(
    $1, owner.scope, owner.owner_id, 'window', wanted.hours, owner.counter, clock.now::date, date_trunc('hour', clock.now)
  ) as use
  order by owner.position, wanted.position`;

const PREVIEW = `
  insert into previewed_corrections as previewed values ($1, $2, $3, $4, now_unix_ms() + $5)
  on conflict (correction_id) do update set expires_unix_ms = previewed.expires_unix_ms
  returning expires_unix_ms`;
const DELETE_EXPIRED_PREVIEWS = `
  delete from previewed_corrections previewed
  where expires_unix_ms < (select now_unix_ms())
    and not exists (select from credits where credit_id = previewed.correction_id)`;

interface BudgetSpendRow {
  readonly today: bigint;
  readonly this_week: bigint;
  readonly this_month: bigint;
  readonly total: bigint;
  readonly held: bigint;
}

interface WindowSpendRow {
  readonly hours: number;
  readonly spent: bigint;
  readonly held: bigint;
}

interface AccountRow {
  readonly credited_nano_usd: bigint;
  readonly available_nano_usd: bigint;
  readonly held_nano_usd: bigint;
  readonly charged_nano_usd: bigint;
  readonly corrected_nano_usd: bigint;
}

interface BalanceRow {
  readonly organization_id: string;
  readonly balance_nano_usd: bigint;
}

interface EntryRow {
  readonly kind: 'credit' | 'hold' | 'settlement' | 'void';
  readonly posted_unix_ms: bigint;
  readonly credit_nano_usd: bigint;
  readonly held_nano_usd: bigint;
  readonly revenue_nano_usd: bigint;
  readonly uncollected_nano_usd: bigint;
}

/** Statements, corrections and reconciliation results in PostgreSQL. */
export function createPostgresStatementStore({ pool, clock }: PostgresStatementStoreOptions): StatementStore {
  /** Reads the months up to the current one, and more in the same snapshot. */
  async function inSnapshot<Result>(
    organizationId: string,
    read: (client: PoolClient, months: readonly StatementMonth[]) => Promise<Result>,
  ): Promise<Result> {
    const now = clock.now();
    const first = (await firstPostingOf(pool, organizationId)) ?? now;
    await sumPastDays(pool, organizationId, first, now);
    return inTransaction(
      pool,
      async (client) => {
        const { rows } = await client.query<AccountRow>(ACCOUNT, [organizationId]);
        const movements = await readMonthlyMovements(client, organizationId, movementsOf(rows[0]));
        const last = [monthOf(now), ...movements.keys()].sort().at(-1) ?? monthOf(now);
        return read(client, chainMonths(monthOf(first), last, movements));
      },
      { isolation: 'repeatable read' },
    );
  }

  return {
    readBalances: (organizationIds) =>
      withRetries(async () => {
        const { rows } = await pool.query<BalanceRow>(BALANCES, [organizationIds]);
        return rows.map((row) => ({
          organizationId: row.organization_id,
          balanceNanoUsd: row.balance_nano_usd,
        }));
      }),

    listLowBalances: (belowNanoUsd, limit) =>
      withRetries(async () => {
        const { rows } = await pool.query<{ organization_id: string }>(LOW_BALANCES, [belowNanoUsd, limit]);
        return rows.map((row) => row.organization_id);
      }),

    readBudgetSpend: (organizationId, owners) =>
      withRetries(async () => {
        const { rows } = await pool.query<BudgetSpendRow>(BUDGET_SPEND, [
          organizationId,
          owners.map(({ scope }) => scope),
          owners.map(({ ownerId }) => ownerId),
          // The counter of its days: that of all time has an asterisk before.
          owners.map((owner) => counterOf({ ...owner, period: 'day' })),
        ]);
        return rows.map((row) => ({
          todayNanoUsd: row.today,
          thisWeekNanoUsd: row.this_week,
          thisMonthNanoUsd: row.this_month,
          totalNanoUsd: row.total,
          heldNanoUsd: row.held,
        }));
      }),

    readWindowSpend: (organizationId, owners, hours) =>
      withRetries(async () => {
        const { rows } = await pool.query<WindowSpendRow>(WINDOW_SPEND, [
          organizationId,
          owners.map(({ scope }) => scope),
          owners.map(({ ownerId }) => ownerId),
          owners.map((owner) => counterOf({ ...owner, period: 'window' })),
          hours,
        ]);
        const spends = rows.map(({ spent, held, ...row }) => ({
          ...row,
          spentNanoUsd: spent,
          heldNanoUsd: held,
        }));
        return owners.map((_, at) => spends.slice(at * hours.length, (at + 1) * hours.length));
      }),

    listEndUserSpend: (query) => withRetries(() => listEndUserSpend(pool, query)),

    listEntries: (organizationId, reference) =>
      withRetries(async () => {
        const { rows } = await pool.query<EntryRow>(ENTRIES, [organizationId, reference]);
        return rows.map(entryOf);
      }),

    readStatement: (query) =>
      withRetries(() =>
        inSnapshot(query.organizationId, async (client, months) => {
          const sums = monthIn(months, query.month);
          if (query.day === undefined) {
            return { sums, lines: await readLines(client, query, rangeOf(query.month), sums) };
          }
          const day = (await daysOf(client, query.organizationId, sums)).find((one) => one.day === query.day);
          return { sums, lines: day ? await readLines(client, query, rangeOfDay(day.day), day) : [] };
        }),
      ),

    readDays: (organizationId, month) =>
      withRetries(() =>
        inSnapshot(organizationId, async (client, months) => {
          const sums = monthIn(months, month);
          return { sums, days: await daysOf(client, organizationId, sums) };
        }),
      ),

    listCredits: (query) => withRetries(() => listCredits(pool, query)),

    readMonths: (organizationId) =>
      withRetries(() => inSnapshot(organizationId, async (_client, months) => [...months].reverse())),

    previewCorrection: ({ correctionId, organizationId, amountNanoUsd, note }) =>
      withRetries(async () => {
        const { rows } = await pool.query<AccountRow>(ACCOUNT, [organizationId]);
        const before = balanceOf(rows[0]);
        if (before.availableNanoUsd < amountNanoUsd) return { kind: 'insufficient', before };
        await pool.query(DELETE_EXPIRED_PREVIEWS);
        const previewed = await pool.query<{ expires_unix_ms: bigint }>(PREVIEW, [
          correctionId,
          organizationId,
          amountNanoUsd,
          note,
          PREVIEW_LIFETIME_MS,
        ]);
        const [preview] = previewed.rows;
        if (!preview) throw new Error('storing the preview of a correction returned no row');
        return { kind: 'previewed', before, expires: Number(preview.expires_unix_ms) as UnixMs };
      }),

    correctCredit: ({ correctionId, organizationId, amountNanoUsd, note }, audit) =>
      withRetries(() =>
        inTransaction(pool, async (client) => {
          const { rows } = await client.query<{ kind: CorrectionOutcome['kind'] | 'repeated' }>(
            'select correct_credit($1, $2, $3, $4) as kind',
            [correctionId, organizationId, amountNanoUsd, note],
          );
          const kind = rows[0]?.kind;
          if (!kind) throw new Error('correct_credit returned no row');
          if (kind === 'corrected') await insertAuditEntry(client, BILLING_LEDGER_SCHEMA, audit);
          return { kind: kind === 'repeated' ? 'corrected' : kind };
        }),
      ),

    readReconciliation: () => withRetries(() => readReconciliation(pool)),
  };
}

async function daysOf(client: PoolClient, organizationId: string, month: StatementMonth) {
  return chainDays(month.openingNanoUsd, await readDailyMovements(client, organizationId, month));
}

const monthIn = (months: readonly StatementMonth[], month: string): StatementMonth =>
  months.find((one) => one.month === month) ?? emptyMonth(month, months);

/** A month before the first or after the last, without movements. */
function emptyMonth(month: string, months: readonly StatementMonth[]): StatementMonth {
  const before = months.filter((each) => each.month < month).at(-1);
  const balance = before?.closingNanoUsd ?? 0n;
  return {
    month,
    openingNanoUsd: balance,
    addedNanoUsd: 0n,
    correctedNanoUsd: 0n,
    usedNanoUsd: 0n,
    closingNanoUsd: balance,
  };
}

function movementsOf(account: AccountRow | undefined): Movements {
  const corrected = account?.corrected_nano_usd ?? 0n;
  return {
    addedNanoUsd: (account?.credited_nano_usd ?? 0n) - corrected,
    correctedNanoUsd: corrected,
    usedNanoUsd: -(account?.charged_nano_usd ?? 0n),
  };
}

function balanceOf(account: AccountRow | undefined): Balance {
  if (!account) return NO_BALANCE;
  return {
    creditedNanoUsd: nanoUsd(account.credited_nano_usd),
    chargedNanoUsd: nanoUsd(account.charged_nano_usd),
    heldNanoUsd: nanoUsd(account.held_nano_usd),
    availableNanoUsd: nanoUsd(account.available_nano_usd),
  };
}

function entryOf(row: EntryRow): Entry {
  return {
    kind: row.kind === 'credit' && row.credit_nano_usd < 0n ? 'correction' : row.kind,
    posted: Number(row.posted_unix_ms) as UnixMs,
    creditNanoUsd: nanoUsd(row.credit_nano_usd),
    heldNanoUsd: nanoUsd(row.held_nano_usd),
    revenueNanoUsd: nanoUsd(row.revenue_nano_usd),
    uncollectedNanoUsd: nanoUsd(row.uncollected_nano_usd),
  };
}
