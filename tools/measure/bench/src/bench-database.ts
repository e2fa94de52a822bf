import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Clock } from '@gateway/base';
import { BILLING_LEDGER_SCHEMA, billingLedgerSchema } from '@gateway/billing-ledger';
import { applyMigrations, createPool, startEmbeddedPostgres } from '@gateway/database';
import {
  createPostgresEventLog,
  EVENT_LOG_SCHEMA,
  eventLogSchema,
  type PostgresEventLog,
} from '@gateway/events';
import { createMetrics, createSilentLogger } from '@gateway/runtime';
import type { Pool } from 'pg';

/** A separate PostgreSQL with the schemas of ledger and event log; commits are durable, as in production. */
export interface BenchDatabase {
  readonly url: string;
  /** For the superuser. */
  readonly adminUrl: string;
  /** Process id of the postmaster. */
  readonly pid: number;
  readonly ledgerPool: Pool;
  readonly eventPool: Pool;
  remove(): Promise<void>;
}

/** Fewer checkpoints, so that filling takes minutes; the effect on measured figures is small. */
const SETTINGS = { max_wal_size: '8GB', checkpoint_timeout: '30min', max_connections: '100' };

export async function openBenchDatabase(): Promise<BenchDatabase> {
  const stateDirectory = await mkdtemp(path.join(tmpdir(), 'gateway-bench-database-'));
  // As root, the server runs as another user, which must enter this folder.
  await chmod(stateDirectory, 0o755);
  const server = await startEmbeddedPostgres({
    stateDirectory,
    log: createSilentLogger(),
    settings: SETTINGS,
  });
  const open = (schema: string) =>
    createPool({ url: server.url, schema, applicationName: `bench ${schema}`, maxConnections: 10 });
  const ledgerPool = open(BILLING_LEDGER_SCHEMA);
  const eventPool = open(EVENT_LOG_SCHEMA);
  const remove = async () => {
    await Promise.all([ledgerPool.end(), eventPool.end()]);
    await server.stop();
    await rm(path.dirname(server.dataDirectory), { recursive: true, force: true });
    await rm(stateDirectory, { recursive: true, force: true });
  };
  try {
    await applyMigrations(ledgerPool, billingLedgerSchema);
    await applyMigrations(eventPool, eventLogSchema);
  } catch (error) {
    await remove();
    throw error;
  }
  const { url, adminUrl, pid } = server;
  return { url, adminUrl, pid, ledgerPool, eventPool, remove };
}

/** Runs `fill` with a pool whose statements may take any time. */
export async function withFillingPool(
  { url }: Pick<BenchDatabase, 'url'>,
  schema: string,
  fill: (pool: Pool) => Promise<void>,
): Promise<void> {
  const pool = createPool({
    url,
    schema,
    applicationName: 'bench fill',
    maxConnections: 2,
    queryTimeoutMs: 0,
  });
  try {
    await fill(pool);
  } finally {
    await pool.end();
  }
}

export function openLog({ eventPool }: BenchDatabase, clock: Clock): PostgresEventLog {
  return createPostgresEventLog({
    pool: eventPool,
    clock,
    log: createSilentLogger(),
    metrics: createMetrics({ processMetrics: false }),
  });
}
