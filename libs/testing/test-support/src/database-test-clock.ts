import type { Clock, UnixMs } from '@gateway/base';
import type { Pool } from 'pg';
import { DEFAULT_START_UNIX_MS } from './test-clock';

/** A clock that advances only when it is moved, also for the SQL of a schema. */
export interface DatabaseTestClock extends Clock {
  advance(byMs: number): Promise<void>;
  set(toUnixMs: number): Promise<void>;
}

/**
 * Replaces `now_unix_ms()` in the migrated schema of the pool. The time is in a sequence, whose value every
 * session sees immediately.
 */
export async function createDatabaseTestClock(
  pool: Pool,
  startUnixMs: number = DEFAULT_START_UNIX_MS,
): Promise<DatabaseTestClock> {
  let nowUnixMs = startUnixMs;
  await pool.query('create sequence test_clock');
  await pool.query(`
    create or replace function now_unix_ms() returns bigint
    language sql
    as $$ select pg_sequence_last_value('test_clock'::regclass) $$`);

  async function set(toUnixMs: number): Promise<void> {
    nowUnixMs = toUnixMs;
    await pool.query(`select setval('test_clock', $1)`, [toUnixMs]);
  }

  await set(startUnixMs);
  return {
    now: () => nowUnixMs as UnixMs,
    advance: (byMs) => set(nowUnixMs + byMs),
    set,
  };
}
