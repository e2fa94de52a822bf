import { tracing } from '@gateway/telemetry';
import type { PoolConfig } from 'pg';
import { DatabasePool } from './database-pool';
import { parseDatabaseUrl } from './database-url';
import type { DatabaseLog } from './log';
import { createPoolClients } from './pool-client';
import { assertSchemaName } from './schema-name';
import { TracedPool } from './traced-pool';
import { valueTypes } from './value-types';

export interface PoolOptions {
  /** With one host or several, see `parseDatabaseUrl`. */
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
  /**
   * A statement without a result for this long fails, and its connection is closed. The server cancels it a second
   * earlier, if it responds. 0 is unlimited. Default 8 s.
   */
  readonly queryTimeoutMs?: number;
  /** How long a caller waits for a connection. Default 5 s. */
  readonly acquireTimeoutMs?: number;
  readonly log?: Pick<DatabaseLog, 'warn'>;
}

export const DEFAULT_QUERY_TIMEOUT_MS = 8_000;
const DEFAULT_ACQUIRE_TIMEOUT_MS = 5_000;
const IDLE_CONNECTION_MS = 60_000;
/** Without traffic for this long, the operating system probes the server, and then every second. */
const KEEP_ALIVE_MS = 5_000;
/** Between the server's cancellation of a statement and the end of the client's wait. */
const CANCELLATION_MS = 1_000;

/**
 * The server aborts a transaction that is idle for this long between two
 * statements. The process is then frozen or disconnected, and its locks would
 * block others. A process that is only slow retries its transaction.
 */
export const MAX_IDLE_IN_TRANSACTION_MS = 1_500;

/** When the server cancels a statement. 0 is unlimited. */
export function statementTimeoutMs(queryTimeoutMs: number): number {
  return queryTimeoutMs === 0 ? 0 : Math.max(queryTimeoutMs - CANCELLATION_MS, 1);
}

/**
 * Creates a connection pool on one domain's schema. int8 columns are returned as
 * bigint. Connections go to a writable server only, and leave one that is demoted.
 * Lost connections are replaced and never end the process. The caller ends the
 * pool.
 */
export function createPool(options: PoolOptions): DatabasePool {
  assertSchemaName(options.schema);
  const { queryTimeoutMs = DEFAULT_QUERY_TIMEOUT_MS, throughPooler = false } = options;
  const servers = parseDatabaseUrl(options.url);
  const config: PoolConfig = {
    connectionString: servers.urls[0],
    application_name: options.applicationName,
    max: options.maxConnections,
    connectionTimeoutMillis: options.acquireTimeoutMs ?? DEFAULT_ACQUIRE_TIMEOUT_MS,
    idleTimeoutMillis: IDLE_CONNECTION_MS,
    query_timeout: queryTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    types: valueTypes,
    // Send queries without waiting for the results of earlier ones.
    pipeline: true,
    ...(!throughPooler && {
      statement_timeout: statementTimeoutMs(queryTimeoutMs),
      idle_in_transaction_session_timeout: MAX_IDLE_IN_TRANSACTION_MS,
      // JIT compilation takes longer than any of these statements runs.
      options: `-c search_path=${options.schema} -c timezone=UTC -c jit=off`,
    }),
  };
  const clients = createPoolClients(servers, { throughPooler, config });
  const pool = new (tracing() ? TracedPool : DatabasePool)(config, clients, servers.acceptsReadOnly);
  // A connection that is lost while it is idle emits 'error'; without a listener, it would end the process.
  pool.on('error', (error) => {
    if (pool.ending) return;
    // The driver adds the connection to the error, with the key that cancels its statements.
    options.log?.warn({ reason: error.message, schema: options.schema }, 'idle database connection lost');
  });
  return pool;
}
