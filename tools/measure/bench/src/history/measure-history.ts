import type { Clock, UnixMs } from '@gateway/base';
import { createPostgresLedgerStore, type LedgerStore } from '@gateway/billing-ledger';
import { EVENT_LOG_SCHEMA, type PostgresEventLog } from '@gateway/events';
import { announce, EVENT_BYTES, finishedOf, newHolds } from '../ledger/synthetic-batches';
import type { HistoryPart } from '../options';
import { fillEventLog } from './fill-event-log';
import { DAYS, fillLedger, openLog, ORGANIZATIONS } from './fill-history';
import { measureUsage } from './measure-usage';
import { openBenchDatabase, vacuumFilled, withFillingPool, type BenchDatabase } from '../bench-database';
import { ROUNDS, row, timed, timedWhile, type HistoryRow } from './timing';

export interface HistoryFigures {
  /** Rows in each of the ledger (holds and postings), the event log and usage. */
  readonly rows: number;
  readonly measured: readonly HistoryRow[];
}

const BATCH = 32;
/** A generation has a hold and two postings. */
const ROWS_PER_GENERATION = 3;

/** Fills one database per size and measures the queries of requests and of maintenance. */
export async function measureHistory(
  marks: readonly number[],
  parts: readonly HistoryPart[],
  say: (text: string) => void,
): Promise<HistoryFigures[]> {
  const figures: HistoryFigures[] = [];
  for (const rows of marks) {
    const database = await openBenchDatabase();
    try {
      const clock = { now: () => Date.now() as UnixMs };
      const measured: HistoryRow[] = [];
      if (parts.includes('ledger'))
        measured.push(...(await measureLedgerAndEvents(database, clock, rows, say)));
      if (parts.includes('usage')) measured.push(...(await measureUsage(database, { rows, clock, say })));
      figures.push({ rows, measured: [...measured, ...(await measureSizes(database))] });
    } finally {
      await database.remove();
    }
  }
  return figures;
}

async function measureLedgerAndEvents(
  database: BenchDatabase,
  clock: Clock,
  rows: number,
  say: (text: string) => void,
): Promise<HistoryRow[]> {
  const { ledgerPool } = database;
  say(`Filling ledger and event log with ${rows.toLocaleString('en')} rows each`);
  const span = await fillLedger(database, clock, Math.ceil(rows / ROWS_PER_GENERATION));
  await withFillingPool(database, EVENT_LOG_SCHEMA, async (pool) => {
    await fillEventLog(pool, { events: rows, ...span });
    await vacuumFilled(pool, ['events']);
  });

  say(`Measuring with ${rows.toLocaleString('en')} rows`);
  const log = openLog(database, clock);
  const store = createPostgresLedgerStore({ pool: ledgerPool, clock, appender: log });
  return [
    ...(await measureLedger(store, clock)),
    ...(await measureLookups(database, store, span.untilUnixMs)),
    ...(await measureEvents(database, log)),
  ];
}

async function measureLedger(store: LedgerStore, clock: Clock): Promise<HistoryRow[]> {
  const batches = Array.from({ length: ROUNDS }, () => newHolds(randomOrganizations(), clock.now()));
  const overdue = Array.from({ length: 10 }, () => newHolds(randomOrganizations(), clock.now(), -1));
  const held = await timed(batches, (holds) => store.holdCredit(holds));
  const settle = (holds: ReturnType<typeof newHolds>) =>
    store.settleGenerations(holds.map(finishedOf), announce);
  const settled = await timed(batches, settle);
  const repeated = await timed(batches, settle);
  for (const holds of overdue) await store.holdCredit(holds);
  const reaped = await timed(overdue, () => store.voidOverdueHolds(BATCH));
  const idle = await timed(Array.from({ length: ROUNDS }), () => store.voidOverdueHolds(200));
  return [
    row(`hold ${BATCH}`, held),
    row(`settle ${BATCH}`, settled),
    row(`settle ${BATCH} again`, repeated),
    row(`reap ${BATCH} overdue holds`, reaped),
    row('reap nothing', idle),
  ];
}

function randomOrganizations(): string[] {
  return Array.from({ length: BATCH }, () => `org-${Math.floor(Math.random() * ORGANIZATIONS)}`);
}

async function measureLookups(
  { ledgerPool }: BenchDatabase,
  store: LedgerStore,
  untilUnixMs: number,
): Promise<HistoryRow[]> {
  const organizations = Array.from({ length: ROUNDS }, (_, index) => `org-${index * 7}`);
  const balance = await timed(organizations, (organization) => store.readBalance(organization));
  const statement = await timed(organizations, (organization) =>
    ledgerPool.query(
      `select reference, kind, posted_unix_ms from postings
       where organization_id = $1 and posted_unix_ms < $2
       order by posted_unix_ms desc, reference desc, kind desc limit 50`,
      [organization, untilUnixMs],
    ),
  );
  return [row('balance', balance), row("newest 50 of an organization's postings", statement)];
}

async function measureEvents({ eventPool }: BenchDatabase, log: PostgresEventLog): Promise<HistoryRow[]> {
  const events = Array.from({ length: BATCH }, () => ({ key: 'bench', payload: Buffer.alloc(EVENT_BYTES) }));
  const appended = await timed(Array.from({ length: ROUNDS }), () => log.append('finished', events));
  let handled = 0;
  const started = performance.now();
  const read = new Promise<number>((resolve) => {
    void log.subscribe({
      topic: 'finished',
      group: 'reader',
      handle: async (batch) => {
        handled += batch.length;
        if (handled >= 2_000) resolve(performance.now() - started);
      },
    });
  });
  const readMs = await read;
  await log.stop();
  await eventPool.query(
    'update consumer_groups g set position = t.last_position from topics t where t.topic = g.topic',
  );
  let isTrimming = true;
  const [trimmed, meanwhile] = await Promise.all([
    timed([0], () => trimAll(log).finally(() => (isTrimming = false))),
    timedWhile(
      () => isTrimming,
      () => log.append('finished', events),
    ),
  ]);
  return [
    row(`append ${BATCH} events`, appended),
    { what: 'read 2,000 events at the end', p50: readMs, max: readMs },
    row('trim all but the last 7 days', trimmed),
    // Dropping a partition locks the table; the longest append shows for how long.
    row(`append ${BATCH} events while trimming`, meanwhile),
  ];
}

const MAX_TRIMS = 100;

/** Repeated, because a partition that is being vacuumed is skipped. */
async function trimAll(log: PostgresEventLog): Promise<void> {
  let days = 0;
  for (let trims = 0; trims < MAX_TRIMS && days < DAYS - 7; trims += 1)
    days += (await log.deleteExpired()).days;
}

async function measureSizes({ ledgerPool }: BenchDatabase): Promise<HistoryRow[]> {
  const { rows } = await ledgerPool.query<{ what: string; mib: number }>(`
    select regexp_replace(relname, '_(until_\\d+|default|of_credits)$', '') as what,
      (sum(pg_total_relation_size(c.oid)) / 1048576)::float as mib
    from pg_class c join pg_namespace n on n.oid = relnamespace
    where relkind = 'r' and nspname in ('billing_ledger', 'event_log', 'usage')
    group by 1 having sum(pg_total_relation_size(c.oid)) > 10 * 1048576 order by 2 desc`);
  return rows.map(({ what, mib }) => ({
    what: `size of ${what} at the end`,
    p50: mib,
    max: mib,
    unit: 'MiB',
  }));
}

/** A table with a column for each size. */
export function renderHistory(figures: readonly HistoryFigures[]): string {
  const names = [...new Set(figures.flatMap(({ measured }) => measured.map(({ what }) => what)))];
  const head = `| p50 (max), ms | ${figures.map(({ rows }) => `${rows.toLocaleString('en')} rows`).join(' | ')} |`;
  const rule = `| --- |${figures.map(() => ' ---: |').join('')}`;
  const lines = names.map((name) => {
    const cells = figures.map(({ measured }) => {
      const found = measured.find(({ what }) => what === name);
      if (!found) return '';
      if (found.unit) return `${found.p50.toFixed(0)} ${found.unit}`;
      return `${found.p50.toFixed(1)} (${found.max.toFixed(1)})`;
    });
    return `| ${name} | ${cells.join(' | ')} |`;
  });
  return `${[head, rule, ...lines].join('\n')}\n`;
}
