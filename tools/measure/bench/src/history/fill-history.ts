import { DAY_MS, type Clock, type UnixMs } from '@gateway/base';
import { createPostgresLedgerHistory, fillLedgerHistory } from '@gateway/billing-ledger';
import { createPool } from '@gateway/database';
import { createPostgresEventLog, type PostgresEventLog } from '@gateway/events';
import { createMetrics, createSilentLogger } from '@gateway/runtime';
import { sumSyntheticGenerations, syntheticGenerations, USAGE_SCHEMA } from '@gateway/usage';
import { vacuumFilled, type BenchDatabase } from '../bench-database';

/** What a history spans; a part of its events is past their retention. */
export const DAYS = 60;
export const ORGANIZATIONS = 1_000;
/** Keeps what the fill writes until trim is measured. */
const KEEP_ALL_DAYS = 3_650;
const FILL_TIMEOUT_MS = 3_600_000;

export interface Span {
  readonly fromUnixMs: UnixMs;
  readonly untilUnixMs: UnixMs;
}

/** Sixty days of the ledger, without events; the tables of the past are made first. */
export async function fillLedger(database: BenchDatabase, clock: Clock, generations: number): Promise<Span> {
  await makeTablesOfThePast(database, clock.now());
  const fromUnixMs = (clock.now() - DAYS * DAY_MS) as UnixMs;
  const span = { fromUnixMs, untilUnixMs: clock.now() };
  await fillLedgerHistory(database.ledgerPool, { generations, organizations: ORGANIZATIONS, ...span });
  await vacuumFilled(database.ledgerPool, ['postings', 'closed_holds']);
  return span;
}

/** A month of usage, with its sums. */
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

/** As a gateway would have made them that ran all the time. */
async function makeTablesOfThePast(database: BenchDatabase, nowUnixMs: number): Promise<void> {
  for (let daysAgo = DAYS; daysAgo >= 0; daysAgo -= 1) {
    const clock = { now: () => (nowUnixMs - daysAgo * DAY_MS) as UnixMs };
    await createPostgresLedgerHistory({ pool: database.ledgerPool, clock }).prepare();
    const log = openLog(database, clock, KEEP_ALL_DAYS);
    await log.start();
    await log.stop();
  }
}
