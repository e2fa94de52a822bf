import { DAY_MS, type Clock, type UnixMs } from '@gateway/base';
import {
  BILLING_LEDGER_SCHEMA,
  createPostgresLedgerHistory,
  fillLedgerHistory,
} from '@gateway/billing-ledger';
import { createPostgresEventLog, type PostgresEventLog } from '@gateway/events';
import { createMetrics, createSilentLogger } from '@gateway/runtime';
import { sumSyntheticGenerations, syntheticGenerations, USAGE_SCHEMA } from '@gateway/usage';
import { vacuumFilled, withFillingPool, type BenchDatabase } from '../bench-database';

/** Days of history; some events are older than the retention period. */
export const DAYS = 60;
export const ORGANIZATIONS = 1_000;
/** Retains all filled events until deletion is measured. */
const KEEP_ALL_DAYS = 3_650;

export interface Span {
  readonly fromUnixMs: UnixMs;
  readonly untilUnixMs: UnixMs;
}

/** Fills sixty days of the ledger, without events; creates the partitions of the past first. */
export async function fillLedger(database: BenchDatabase, clock: Clock, generations: number): Promise<Span> {
  await createPastPartitions(database, clock.now());
  const fromUnixMs = (clock.now() - DAYS * DAY_MS) as UnixMs;
  const span = { fromUnixMs, untilUnixMs: clock.now() };
  await withFillingPool(database, BILLING_LEDGER_SCHEMA, async (pool) => {
    await fillLedgerHistory(pool, { generations, organizations: ORGANIZATIONS, ...span });
    await vacuumFilled(pool, ['postings', 'closed_holds']);
  });
  return span;
}

/** Fills a month of usage, including rollups. */
export async function fillUsage(database: BenchDatabase, rows: number, end: UnixMs): Promise<void> {
  await withFillingPool(database, USAGE_SCHEMA, async (pool) => {
    await syntheticGenerations(pool, { rows, end });
    await sumSyntheticGenerations(pool);
    await vacuumFilled(pool, ['generations', 'usage_rollups_hourly', 'usage_rollups']);
  });
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
