import { eventually } from '@gateway/test-support';
import { Client } from 'pg';

/** A lock on rows that blocks other writers, so that a process can be killed at that step. */
export interface RowLock {
  /** Waits until a query is blocked by the lock. */
  waitForBlockedQuery(): Promise<void>;
  /** Terminates blocked connections, as a database does for a disconnected client, then releases the lock. */
  terminateBlockedAndRelease(): Promise<void>;
  /** Releases the lock: blocked queries continue, even if their client process was killed. */
  release(): Promise<void>;
}

const MAX_LOCK_MS = 20_000;

/** @param locking a `select … for update`. */
export async function lockRows(databaseUrl: string, locking: string): Promise<RowLock> {
  const client = new Client({ connectionString: databaseUrl });
  // A failed test must not block later tests.
  client.on('error', () => undefined);
  await client.connect();
  await client.query(`set idle_in_transaction_session_timeout = '${MAX_LOCK_MS}'`);
  await client.query('begin');
  const { rowCount } = await client.query(locking);
  if (!rowCount) throw new Error(`no rows to lock: ${locking}`);
  // Not pg_stat_activity, which is cached for a whole transaction.
  const blocked = `select pid from pg_locks where not granted and pg_backend_pid() = any (pg_blocking_pids(pid))`;

  async function release(): Promise<void> {
    await client.query('rollback');
    await client.end();
  }

  return {
    waitForBlockedQuery: () =>
      eventually('a query is blocked by the lock', async () =>
        (await client.query(blocked)).rowCount ? true : undefined,
      ).then(() => undefined),
    async terminateBlockedAndRelease() {
      // Terminating one connection may unblock the next one in the queue.
      while ((await client.query(blocked)).rowCount) {
        await client.query(`select pg_terminate_backend(pid, 5000) from (${blocked}) blocked`);
      }
      await release();
    },
    release,
  };
}
