import { applyMigrations, createPool } from '@gateway/database';
import { createMetrics } from '@gateway/runtime';
import { createTestClock, createTestDatabase, type TestClock } from '@gateway/test-support';
import type { Pool } from 'pg';
import type { EventLogLimits } from '../../delivery/limits';
import { createPostgresEventLog, type PostgresEventLog } from '../postgres-event-log';
import { EVENT_LOG_SCHEMA as schema, eventLogSchema } from '../sql/schema';

const ignore = () => undefined;
const silent = { debug: ignore, info: ignore, warn: ignore, error: ignore };

/** Polling is practically off, so that tests notice a lost notification. */
const QUICK: Partial<EventLogLimits> = {
  backoff: { firstMs: 1, maxMs: 5 },
  lockRetryMs: 20,
  lingerMs: 0,
  pollIntervalMs: 600_000,
  lagIntervalMs: 20,
};

export interface OpenLog extends PostgresEventLog {
  readonly pool: Pool;
  readonly metrics: ReturnType<typeof createMetrics>;
}

/** Several logs on one test database, like several processes. */
export interface EventLogFixture {
  readonly admin: Pool;
  readonly clock: TestClock;
  openLog(limits?: Partial<EventLogLimits>, applicationName?: string): OpenLog;
  /** Terminates the connections of the process with this name. */
  terminateConnections(applicationName: string): Promise<void>;
  /** Stops all logs and empties the database. */
  reset(): Promise<void>;
  close(): Promise<void>;
}

export async function createEventLogFixture(): Promise<EventLogFixture> {
  const database = await createTestDatabase();
  const clock = createTestClock();
  const poolNamed = (applicationName: string) =>
    createPool({ url: database.url, schema, applicationName, maxConnections: 6 });
  const admin = poolNamed('admin');
  await applyMigrations(admin, eventLogSchema);
  let opened: OpenLog[] = [];

  async function stopAll(): Promise<void> {
    await Promise.all(opened.map((log) => log.stop()));
    opened = [];
  }

  return {
    admin,
    clock,
    openLog(limits = {}, applicationName = 'test') {
      const pool = poolNamed(applicationName);
      const metrics = createMetrics({ processMetrics: false });
      const log = createPostgresEventLog({
        pool,
        clock,
        log: silent,
        metrics,
        limits: { ...QUICK, ...limits },
      });
      let stopping: Promise<void> | undefined;
      const own = { ...log, pool, metrics, stop: () => (stopping ??= log.stop().then(() => pool.end())) };
      opened.push(own);
      return own;
    },
    async terminateConnections(applicationName) {
      await admin.query(
        'select pg_terminate_backend(pid, 5000) from pg_stat_activity where application_name = $1',
        [applicationName],
      );
    },
    async reset() {
      await stopAll();
      await admin.query('truncate topics, events, consumer_groups, consumer_offsets, dead_letters');
    },
    async close() {
      await stopAll();
      await admin.end();
      await database.drop();
    },
  };
}
