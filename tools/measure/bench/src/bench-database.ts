import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { BILLING_LEDGER_SCHEMA, billingLedgerSchema } from '@gateway/billing-ledger';
import { applyMigrations, createPool, startEmbeddedPostgres } from '@gateway/database';
import { EVENT_LOG_SCHEMA, eventLogSchema } from '@gateway/events';
import { createSilentLogger } from '@gateway/runtime';
import { USAGE_SCHEMA, usageSchema } from '@gateway/usage';
import type { Pool } from 'pg';

/** A separate PostgreSQL with the schemas of ledger, event log and usage; commits are durable, as in production. */
export interface BenchDatabase {
  readonly url: string;
  /** For the superuser. */
  readonly adminUrl: string;
  /** Process id of the postmaster. */
  readonly pid: number;
  readonly ledgerPool: Pool;
  readonly eventPool: Pool;
  readonly usagePool: Pool;
  remove(): Promise<void>;
}

/** Fewer checkpoints, so that filling takes minutes; the effect on measured figures is small. */
const SETTINGS = { max_wal_size: '8GB', checkpoint_timeout: '30min', max_connections: '100' };

export async function openBenchDatabase(
  settings: Readonly<Record<string, string>> = {},
): Promise<BenchDatabase> {
  const stateDirectory = await mkdtemp(path.join(tmpdir(), 'gateway-bench-database-'));
  // As root, the server runs as another user, which must enter this folder.
  await chmod(stateDirectory, 0o755);
  const server = await startEmbeddedPostgres({
    stateDirectory,
    log: createSilentLogger(),
    settings: { ...SETTINGS, ...settings },
  });
  const open = (schema: string) =>
    createPool({ url: server.url, schema, applicationName: `bench ${schema}`, maxConnections: 10 });
  const ledgerPool = open(BILLING_LEDGER_SCHEMA);
  const eventPool = open(EVENT_LOG_SCHEMA);
  const usagePool = open(USAGE_SCHEMA);
  const remove = async () => {
    await Promise.all([ledgerPool.end(), eventPool.end(), usagePool.end()]);
    await server.stop();
    await rm(path.dirname(server.dataDirectory), { recursive: true, force: true });
    await rm(stateDirectory, { recursive: true, force: true });
  };
  try {
    await applyMigrations(ledgerPool, billingLedgerSchema);
    await applyMigrations(eventPool, eventLogSchema);
    await applyMigrations(usagePool, usageSchema);
  } catch (error) {
    await remove();
    throw error;
  }
  const { url, adminUrl, pid } = server;
  return { url, adminUrl, pid, ledgerPool, eventPool, usagePool, remove };
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

/**
 * Vacuums filled tables, so that autovacuum does not run during the measurement. In
 * production, tables grow slowly and are vacuumed along the way.
 */
export async function vacuumFilled(pool: Pool, tables: readonly string[]): Promise<void> {
  await pool.query(`vacuum (freeze, analyze) ${tables.join(', ')}`);
}
