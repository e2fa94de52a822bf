import { tracing } from '@gateway/telemetry';
import { Pool } from 'pg';
import type { DatabaseLog } from './log';
import { TracedPool } from './traced-pool';
import { UnnamedStatements } from './unnamed-statements';
import { assertSchemaName } from './schema-name';
import { valueTypes } from './value-types';

export interface PoolOptions {
  readonly url: string;
  /** The domain's schema; unqualified names in SQL mean this one. */
  readonly schema: string;
  /** Shown in `pg_stat_activity`. */
  readonly applicationName: string;
  readonly maxConnections: number;
  /**
   * The URL is of a pooler that lends a connection for one transaction. It knows
   * nothing of settings of a session, so those come with the role (see
   * `settleRole`), and no statement has a name. Locks and subscriptions that
   * last longer than a transaction need a pool without this.
   */
  readonly throughPooler?: boolean;
  /** The server gives a statement up after this. Default 30 s. */
  readonly statementTimeoutMs?: number;
  /** How long a caller waits for a free connection. Default 10 s. */
  readonly acquireTimeoutMs?: number;
  readonly log?: Pick<DatabaseLog, 'warn'>;
}

export const DEFAULT_STATEMENT_TIMEOUT_MS = 30_000;
const DEFAULT_ACQUIRE_TIMEOUT_MS = 10_000;
const IDLE_CONNECTION_MS = 60_000;

/**
 * Between two statements of one transaction. Nobody thinks in between, so what
 * takes this long is a process that was stopped or cut off, and its locks stop
 * all others; a process that is merely slow repeats its transaction.
 */
export const MAX_IDLE_IN_TRANSACTION_MS = 1_500;

/**
 * A pool of connections to one domain's schema. int8 columns arrive as bigint.
 * A lost connection is replaced, never fatal, whoever has it. The caller ends
 * the pool.
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
    // What is asked of a connection before an answer has come is sent behind it, not kept until then.
    pipeline: true,
    ...(options.throughPooler
      ? { Client: UnnamedStatements }
      : {
          statement_timeout: statementTimeoutMs,
          idle_in_transaction_session_timeout: MAX_IDLE_IN_TRANSACTION_MS,
          // Compiling a statement takes PostgreSQL longer than any of these takes to run.
          options: `-c search_path=${options.schema} -c timezone=UTC -c jit=off`,
        }),
  });
  // A connection that is lost while a caller has it, but between two of its
  // statements, says so by an event. The caller learns of it from its next
  // statement; unheard, the event would end the process.
  pool.on('connect', (client) => {
    client.on('error', () => undefined);
  });
  // The same for those that nobody has.
  pool.on('error', (error) => {
    if (pool.ending) return;
    options.log?.warn({ err: error, schema: options.schema }, 'idle database connection lost');
  });
  return pool;
}
