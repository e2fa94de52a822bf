import { eventually } from '@gateway/test-support';
import { Client } from 'pg';

/** Rows that nobody else can write for the moment, so that a process can be killed at just that step. */
export interface StalledRows {
  /** Waits until somebody waits for the rows. */
  someoneWaits(): Promise<void>;
  /** Cuts off those who wait, as a database would whose client is gone; then lets the rows go. */
  cutOffAndRelease(): Promise<void>;
  /** Lets the rows go: those who wait get on, also when their process is dead by now. */
  release(): Promise<void>;
}

const MAX_STALL_MS = 20_000;

/** @param locking a `select … for update`. */
export async function stallRows(databaseUrl: string, locking: string): Promise<StalledRows> {
  const client = new Client({ connectionString: databaseUrl });
  // A test that fails half-way must not stall those after it for ever.
  client.on('error', () => undefined);
  await client.connect();
  await client.query(`set idle_in_transaction_session_timeout = '${MAX_STALL_MS}'`);
  await client.query('begin');
  const { rowCount } = await client.query(locking);
  if (!rowCount) throw new Error(`there is nothing to stall: ${locking}`);
  // Not pg_stat_activity, which looks the same for a whole transaction.
  const waiting = `select pid from pg_locks where not granted and pg_backend_pid() = any (pg_blocking_pids(pid))`;

  async function release(): Promise<void> {
    await client.query('rollback');
    await client.end();
  }

  return {
    someoneWaits: () =>
      eventually('someone waits for the stalled rows', async () =>
        (await client.query(waiting)).rowCount ? true : undefined,
      ).then(() => undefined),
    async cutOffAndRelease() {
      // One that is cut off may let the next in line come to wait.
      while ((await client.query(waiting)).rowCount) {
        await client.query(`select pg_terminate_backend(pid, 5000) from (${waiting}) waiting`);
      }
      await release();
    },
    release,
  };
}
