import { tracing } from '@gateway/telemetry';
import { Pool } from 'pg';
import type { DatabaseLog } from './log';
import { TracedPool } from './traced-pool';
import { UnnamedStatements } from './unnamed-statements';
import { assertSchemaName } from './schema-name';
import { valueTypes } from './value-types';

export interface PoolOptions {
  readonly url: string;
  /** The domain's schema: the search path of the connections. */
  readonly schema: string;
  /** Shown in `pg_stat_activity`. */
  readonly applicationName: string;
  readonly maxConnections: number;
  /**
   * The URL is that of a pooler in transaction mode. Settings then belong to the
   * role (see `configureRole`), and statements are unnamed. LISTEN and
   * session-level locks need a pool without this.
   */
  readonly throughPooler?: boolean;
  /** The server cancels a statement after this time. Default 30 s. */
  readonly statementTimeoutMs?: number;
  /** How long a caller waits for a free connection. Default 10 s. */
  readonly acquireTimeoutMs?: number;
  readonly log?: Pick<DatabaseLog, 'warn'>;
}

export const DEFAULT_STATEMENT_TIMEOUT_MS = 30_000;
const DEFAULT_ACQUIRE_TIMEOUT_MS = 10_000;
const IDLE_CONNECTION_MS = 60_000;

/**
 * The server aborts a transaction that is idle for this long between two
 * statements. The process is then frozen or disconnected, and its locks would
 * block others. A process that is only slow retries its transaction.
 */
export const MAX_IDLE_IN_TRANSACTION_MS = 1_500;

/**
 * Creates a connection pool on one domain's schema. int8 columns are returned as
 * bigint. Lost connections are replaced and never end the process. The caller
 * ends the pool.
 */
export function createPool(options: PoolOptions): Pool {
  assertSchemaName(options.schema);
  const statementTimeoutMs = options.statementTimeoutMs ?? DEFAULT_STATEMENT_TIMEOUT_MS;
  const pool = new (tracing() ? TracedPool : Pool)({
    connectionString: options.url,
    application_name: options.applicationName,
    max: options.maxConnections,
    connectionTimeoutMillis: options.acquireTimeoutMs ?? DEFAULT_ACQUIRE_TIMEOUT_MS,
    idleTimeoutMillis: IDLE_CONNECTION_MS,
    keepAlive: true,
    types: valueTypes,
    // Send queries without waiting for the results of earlier ones.
    pipeline: true,
    ...(options.throughPooler
      ? { Client: UnnamedStatements }
      : {
          statement_timeout: statementTimeoutMs,
          idle_in_transaction_session_timeout: MAX_IDLE_IN_TRANSACTION_MS,
          // JIT compilation takes longer than any of these statements runs.
          options: `-c search_path=${options.schema} -c timezone=UTC -c jit=off`,
        }),
  });
  // A connection that is lost between two statements emits 'error'. The next
  // statement fails anyway; without a listener, the event would end the process.
  pool.on('connect', (client) => {
    client.on('error', () => undefined);
  });
  // The same for idle connections.
  pool.on('error', (error) => {
    if (pool.ending) return;
    options.log?.warn({ err: error, schema: options.schema }, 'idle database connection lost');
  });
  return pool;
}
