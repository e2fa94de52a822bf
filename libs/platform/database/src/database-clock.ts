import type { Clock, UnixMs } from '@gateway/base';
import { createPeriodicTask, type Registry } from '@gateway/runtime';
import type { Pool } from 'pg';
import { Gauge } from 'prom-client';
import type { DatabaseLog } from './log';

export interface DatabaseClockOptions {
  readonly pool: Pool;
  /** For the metric. */
  readonly schema: string;
  /** The clock of this process. */
  readonly clock: Clock;
  readonly metrics: Registry;
  readonly log: Pick<DatabaseLog, 'warn'>;
  /** Default 15,000. */
  readonly intervalMs?: number;
}

/**
 * The clock of a database, for times that all replicas must agree on: the clock of this process, corrected by the
 * last measured offset. Deadlines and leases of money are decided in SQL instead, which no delay can make wrong.
 */
export interface DatabaseClock extends Clock {
  /** Measures the offset now, and then periodically. An unavailable database leaves it unchanged. */
  start(): Promise<void>;
  /** Waits for the measurement in progress. */
  stop(): Promise<void>;
}

const MEASURE_INTERVAL_MS = 15_000;
/** The error of a measurement is at most half its round trip, so slow ones are discarded. */
const MAX_ROUND_TRIP_MS = 1_000;
/** Less than for other statements, because a stop of the process waits for the measurement in progress. */
const QUERY_TIMEOUT_MS = 2_000;

const NOW = {
  name: 'database_clock.now',
  text: `select (extract(epoch from clock_timestamp()) * 1000)::double precision as now_ms`,
  query_timeout: QUERY_TIMEOUT_MS,
};

export function createDatabaseClock(options: DatabaseClockOptions): DatabaseClock {
  const { pool, schema, clock, log } = options;
  const gauge = offsetGauge(options.metrics).labels({ schema });
  const measuring = createPeriodicTask(measure, options.intervalMs ?? MEASURE_INTERVAL_MS);
  let offsetMs = 0;

  async function measure(): Promise<void> {
    try {
      const measured = await measureOffset(pool, clock);
      if (measured === undefined) return;
      offsetMs = Math.round(measured);
      gauge.set(measured / 1_000);
    } catch (error) {
      log.warn({ err: error, schema }, 'the clock of the database could not be read; retrying later');
    }
  }

  return {
    now: () => (clock.now() + offsetMs) as UnixMs,
    async start() {
      await measure();
      measuring.start();
    },
    stop: () => measuring.stop(),
  };
}

/** How far the database is ahead of this process, assuming that both directions of the round trip take equally long. */
async function measureOffset(pool: Pool, clock: Clock): Promise<number | undefined> {
  const client = await pool.connect();
  let isBroken = true;
  try {
    const sentMs = performance.now();
    const { rows } = await client.query<{ now_ms: number }>(NOW);
    const receivedUnixMs = clock.now();
    const roundTripMs = performance.now() - sentMs;
    isBroken = false;
    const [row] = rows;
    if (!row || roundTripMs > MAX_ROUND_TRIP_MS) return undefined;
    return row.now_ms + roundTripMs / 2 - receivedUnixMs;
  } finally {
    client.release(isBroken);
  }
}

/** A process has one for each of its schemas. */
function offsetGauge(metrics: Registry): Gauge<'schema'> {
  const known = metrics.getSingleMetric('gateway_database_clock_offset_seconds');
  if (known instanceof Gauge) return known;
  return new Gauge({
    name: 'gateway_database_clock_offset_seconds',
    help: 'How far the clock of the database is ahead of the clock of this process, by schema.',
    labelNames: ['schema'] as const,
    registers: [metrics],
  });
}
