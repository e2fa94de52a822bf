import { retry } from '@gateway/base';
import { traced } from '@gateway/telemetry';
import type { Pool, PoolClient } from 'pg';
import { isServerReadOnly } from './database-error';
import { statementSpan } from './traced-pool';
import { isTransactionConflict } from './transient-error';

export interface TransactionOptions {
  /** Default 5. */
  readonly maxAttempts?: number;
  readonly isolation?: 'read committed' | 'repeatable read' | 'serializable';
}

const DEFAULT_MAX_ATTEMPTS = 5;
const BACKOFF = { firstMs: 10, maxMs: 200 };

/**
 * Runs `work` in a transaction and commits it; a rejection rolls it back. Retries
 * `work` after deadlocks and serialization failures, with jittered pauses, so
 * `work` must have no effects outside the transaction. Other errors reject.
 */
export async function inTransaction<Result>(
  pool: Pool,
  work: (client: PoolClient) => Promise<Result>,
  options: TransactionOptions = {},
): Promise<Result> {
  const { maxAttempts = DEFAULT_MAX_ATTEMPTS, isolation = 'read committed' } = options;
  return retry(
    () =>
      traced('postgresql transaction', statementSpan('transaction'), () =>
        attemptTransaction(pool, work, isolation),
      ),
    { backoff: BACKOFF, maxAttempts, isRetryable: isTransactionConflict },
  );
}

/**
 * Sends statements without waiting for results, and returns their promises. It
 * must not fail after sending some of them, since the commit follows.
 */
export type SendAll = (client: PoolClient) => readonly Promise<unknown>[];

const BEGIN = 'begin isolation level read committed';

/**
 * A transaction whose statements and commit are sent in one round trip, so that
 * locks are held only while the server executes them. Any failure rolls back all.
 */
export function inOneRoundTrip(pool: Pool, send: SendAll): Promise<void> {
  return traced('postgresql transaction', statementSpan('transaction'), () =>
    withClient(pool, async (client) => {
      await allResults([client.query(BEGIN), ...send(client), client.query('commit')]);
    }),
  );
}

/**
 * As `inOneRoundTrip`, but first reads and locks the rows that determine what is
 * written.
 *
 * @param decide if it throws, nothing is written.
 */
export function inTwoRoundTrips<Read, Result>(
  pool: Pool,
  read: (client: PoolClient) => Promise<Read>,
  decide: (read: Read) => { readonly result: Result; readonly write: SendAll },
): Promise<Result> {
  return traced('postgresql transaction', statementSpan('transaction'), () =>
    withClient(pool, async (client, markUnusable) => {
      const started = client.query(BEGIN);
      const reading = read(client);
      let decided: ReturnType<typeof decide>;
      try {
        await allResults([started, reading]);
        decided = decide(await reading);
      } catch (error) {
        await client.query('rollback').catch(markUnusable);
        throw error;
      }
      await allResults([...decided.write(client), client.query('commit')]);
      return decided.result;
    }),
  );
}

/** Waits until all have settled, and rejects with the first rejection. */
async function allResults(sent: readonly Promise<unknown>[]): Promise<void> {
  const results = await Promise.allSettled(sent);
  const failed = results.find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}

async function attemptTransaction<Result>(
  pool: Pool,
  work: (client: PoolClient) => Promise<Result>,
  isolation: string,
): Promise<Result> {
  return withClient(pool, async (client, markUnusable) => {
    try {
      await client.query(`begin isolation level ${isolation}`);
      const result = await work(client);
      const { command } = await client.query('commit');
      // The server responds with ROLLBACK if `work` swallowed an earlier error.
      if (command !== 'COMMIT') throw new Error('the transaction was rolled back after a swallowed error');
      return result;
    } catch (error) {
      await client.query('rollback').catch(markUnusable);
      throw error;
    }
  });
}

/** Runs `work` with a connection of the pool, and closes the connection if it became unusable. */
async function withClient<Result>(
  pool: Pool,
  work: (client: PoolClient, markUnusable: (reason: unknown) => void) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect();
  let unusable: Error | undefined;
  const markUnusable = (reason: unknown): void => {
    unusable = reason instanceof Error ? reason : new Error(String(reason));
  };
  // A connection that is lost between two statements emits 'error'; without a listener, it would end the process.
  client.on('error', markUnusable);
  try {
    return await work(client, markUnusable);
  } catch (error) {
    // The pool leaves the server when it gets this error.
    if (isServerReadOnly(error)) markUnusable(error);
    throw error;
  } finally {
    client.off('error', markUnusable);
    client.release(unusable);
  }
}
