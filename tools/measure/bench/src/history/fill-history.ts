import { DAY_MS, type Clock, type UnixMs } from '@gateway/base';
import { createPostgresLedgerHistory, fillLedgerHistory } from '@gateway/billing-ledger';
import { createPool } from '@gateway/database';
import { createPostgresEventLog, type PostgresEventLog } from '@gateway/events';
import { createMetrics, createSilentLogger } from '@gateway/runtime';
import { sumSyntheticGenerations, syntheticGenerations, USAGE_SCHEMA } from '@gateway/usage';
import { vacuumFilled, type BenchDatabase } from '../bench-database';

/** Days of history; some events are older than the retention period. */
export const DAYS = 60;
export const ORGANIZATIONS = 1_000;
/** Retains all filled events until deletion is measured. */
const KEEP_ALL_DAYS = 3_650;
const FILL_TIMEOUT_MS = 3_600_000;

export interface Span {
  readonly fromUnixMs: UnixMs;
  readonly untilUnixMs: UnixMs;
}

/** Fills sixty days of the ledger, without events; creates the partitions of the past first. */
export async function fillLedger(database: BenchDatabase, clock: Clock, generations: number): Promise<Span> {
  await createPastPartitions(database, clock.now());
  const fromUnixMs = (clock.now() - DAYS * DAY_MS) as UnixMs;
  const span = { fromUnixMs, untilUnixMs: clock.now() };
  await fillLedgerHistory(database.ledgerPool, { generations, organizations: ORGANIZATIONS, ...span });
  await vacuumFilled(database.ledgerPool, ['postings', 'closed_holds']);
  return span;
}

/** Fills a month of usage, including rollups. */
export async function fillUsage(database: BenchDatabase, rows: number, end: UnixMs): Promise<void> {
  const filling = createPool({
    url: database.url,
    schema: USAGE_SCHEMA,
    applicationName: 'bench fill',
    maxConnections: 2,
    statementTimeoutMs: FILL_TIMEOUT_MS,
  });
  try {
    await syntheticGenerations(filling, { rows, end });
    await sumSyntheticGenerations(filling);
    await vacuumFilled(filling, ['generations', 'usage_rollups_hourly', 'usage_rollups']);
  } finally {
    await filling.end();
  }
}

export function openLog({ eventPool }: BenchDatabase, clock: Clock, retentionDays = 7): PostgresEventLog {
  return createPostgresEventLog({
    pool: eventPool,
    clock,
    log: createSilentLogger(),
    metrics: createMetrics({ processMetrics: false }),
    limits: { retentionMs: retentionDays * DAY_MS },
  });
}

/** Creates the partitions that a gateway running all the time would have created. */
async function createPastPartitions(database: BenchDatabase, nowUnixMs: number): Promise<void> {
  for (let daysAgo = DAYS; daysAgo >= 0; daysAgo -= 1) {
    const clock = { now: () => (nowUnixMs - daysAgo * DAY_MS) as UnixMs };
    await createPostgresLedgerHistory({ pool: database.ledgerPool, clock }).prepare();
    const log = openLog(database, clock, KEEP_ALL_DAYS);
    await log.start();
    await log.stop();
  }
}
