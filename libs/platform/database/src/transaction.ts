import { retry } from '@gateway/base';
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
 * Sends statements none of which waits for another's answer, and returns their
 * answers. Whatever could keep one from being sent was checked before: the
 * commit is sent behind them.
 */
export type SendAll = (client: PoolClient) => readonly Promise<unknown>[];

const BEGIN = 'begin isolation level read committed';

/**
 * A transaction whose statements, and the commit, are sent at once, so that what
 * they lock is locked for as long as the server works on them. The first that
 * fails undoes all.
 */
export function inOneRoundTrip(pool: Pool, send: SendAll): Promise<void> {
  return traced('postgresql transaction', statementSpan('transaction'), () =>
    withClient(pool, async (client) => {
      await allAnswers([client.query(BEGIN), ...send(client), client.query('commit')]);
    }),
  );
}

/**
 * The same where what is written depends on what is read, and locked, first.
 *
 * @param decide when it throws, nothing is written.
 */
export function inTwoRoundTrips<Read, Result>(
  pool: Pool,
  read: (client: PoolClient) => Promise<Read>,
  decide: (read: Read) => { readonly result: Result; readonly write: SendAll },
): Promise<Result> {
  return traced('postgresql transaction', statementSpan('transaction'), () =>
    withClient(pool, async (client, giveUp) => {
      const begun = client.query(BEGIN);
      const reading = read(client);
      let decided: ReturnType<typeof decide>;
      try {
        await allAnswers([begun, reading]);
        decided = decide(await reading);
      } catch (error) {
        await client.query('rollback').catch(giveUp);
        throw error;
      }
      await allAnswers([...decided.write(client), client.query('commit')]);
      return decided.result;
    }),
  );
}

/** Waits for all, whatever becomes of the others, and rejects with the first that was rejected. */
async function allAnswers(sent: readonly Promise<unknown>[]): Promise<void> {
  const answers = await Promise.allSettled(sent);
  const failed = answers.find((answer) => answer.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}

async function attemptTransaction<Result>(
  pool: Pool,
  work: (client: PoolClient) => Promise<Result>,
  isolation: string,
): Promise<Result> {
  return withClient(pool, async (client, giveUp) => {
    try {
      await client.query(`begin isolation level ${isolation}`);
      const result = await work(client);
      const { command } = await client.query('commit');
      // The server answers ROLLBACK when an earlier error was swallowed by `work`.
      if (command !== 'COMMIT') throw new Error('the transaction was rolled back after a swallowed error');
      return result;
    } catch (error) {
      await client.query('rollback').catch(giveUp);
      throw error;
    }
  });
}

/** Lends a connection; one that was given up, or died meanwhile, is nobody's afterwards. */
async function withClient<Result>(
  pool: Pool,
  work: (client: PoolClient, giveUp: (reason: unknown) => void) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect();
  let unusable: Error | undefined;
  const giveUp = (reason: unknown): void => {
    unusable = reason instanceof Error ? reason : new Error(String(reason));
  };
  // A connection that dies between two statements says so by an event; unheard, it would end the process.
  client.on('error', giveUp);
  try {
    return await work(client, giveUp);
  } finally {
    client.off('error', giveUp);
    client.release(unusable);
  }
}
