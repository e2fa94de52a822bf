import type { UnixMs } from '@gateway/base';
import type { Pool } from 'pg';
import type { GenerationTables } from '../../core/ports';

/** Names the months that have a table, such as "2026_11". */
const MONTHS = `
  select substr(part.relname, length('generations_') + 1) as month
  from pg_inherits
  join pg_class part on part.oid = inhrelid
  where inhparent = 'generations'::regclass and part.relname ~ '^generations_\\d{4}_\\d{2}$'`;

/** Rows of no month that one round deletes. */
const OTHERS_LIMIT = 5_000;
const DROP_OTHERS = `
  delete from generations_other
  where (id, created_unix_ms) in (
    select id, created_unix_ms from generations_other where created_unix_ms < $1 limit ${OTHERS_LIMIT}
  )`;

/**
 * One table per month. Dropping one takes a lock that every reader waits for,
 * so whoever does not get it at once leaves it to the next time.
 */
export function createPostgresGenerationTables(pool: Pool): GenerationTables {
  return {
    async prepare(now) {
      for (const month of [monthOf(now, 0), monthOf(now, 1)]) {
        await pool.query('select create_generation_month($1::date)', [month]);
      }
    },
    async dropBefore(oldest) {
      const { rows } = await pool.query<{ month: string }>(MONTHS);
      const outdated = rows.map(({ month }) => month).filter((month) => endOf(month) <= oldest);
      for (const month of outdated) {
        // One message is one transaction, so the time limit is for this statement alone.
        await pool.query(`set local lock_timeout = '2s'; drop table generations_${month}`);
      }
      await pool.query(DROP_OTHERS, [oldest]);
      return outdated.length;
    },
  };
}

function monthOf(now: UnixMs, later: number): string {
  const date = new Date(now);
  return new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + later, 1)).toISOString().slice(0, 10);
}

function endOf(month: string): number {
  const [year = 0, number = 0] = month.split('_').map(Number);
  return Date.UTC(year, number, 1);
}
