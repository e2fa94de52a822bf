import { setTimeout as delay } from 'node:timers/promises';
import { backoffMs } from '@gateway/base';
import { traced } from '@gateway/telemetry';
import type { Pool, PoolClient } from 'pg';
import { statementSpan } from './traced-pool';
import { isTransactionConflict } from './transient-error';

export interface TransactionOptions {
  /** Runs at most this often. Default 5. */
  readonly maxAttempts?: number;
  readonly isolation?: 'read committed' | 'repeatable read' | 'serializable';
}

const DEFAULT_MAX_ATTEMPTS = 5;
const BACKOFF = { firstMs: 10, maxMs: 200 };

/**
 * Runs `work` in one transaction and commits it; a rejection rolls it back.
 * Deadlocks and serialization failures run `work` again, a bounded number of
 * times after a jittered pause, so `work` must have no effects outside the
 * transaction. Any other error is the caller's.
 */
export async function inTransaction<Result>(
  pool: Pool,
  work: (client: PoolClient) => Promise<Result>,
  options: TransactionOptions = {},
): Promise<Result> {
  const maxAttempts = options.maxAttempts ?? DEFAULT_MAX_ATTEMPTS;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await traced('postgresql transaction', statementSpan('transaction'), () =>
        attemptTransaction(pool, work, options.isolation ?? 'read committed'),
      );
    } catch (error) {
      if (attempt >= maxAttempts || !isTransactionConflict(error)) throw error;
      await delay(backoffMs(attempt, BACKOFF, Math.random()));
    }
  }
}

async function attemptTransaction<Result>(
  pool: Pool,
  work: (client: PoolClient) => Promise<Result>,
  isolation: string,
): Promise<Result> {
  const client = await pool.connect();
  let unusable: Error | undefined;
  // A connection that dies between two statements says so by an event; unheard, it would end the process.
  const onError = (error: Error): void => {
    unusable = error;
  };
  client.on('error', onError);
  try {
    await client.query(`begin isolation level ${isolation}`);
    const result = await work(client);
    const { command } = await client.query('commit');
    // The server answers ROLLBACK when an earlier error was swallowed by `work`.
    if (command !== 'COMMIT') throw new Error('the transaction was rolled back after a swallowed error');
    return result;
  } catch (error) {
    await client.query('rollback').catch((rollbackError: unknown) => {
      unusable = rollbackError instanceof Error ? rollbackError : new Error(String(rollbackError));
    });
    throw error;
  } finally {
    client.off('error', onError);
    client.release(unusable);
  }
}
