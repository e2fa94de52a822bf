import { createHash } from 'node:crypto';
import type { UnixMs } from '@gateway/base';
import type { Pool } from 'pg';
import type { AttemptCounter } from '../../core/ports';

/** Locks rows in the order of their keys, so that attempts with common buckets cannot deadlock. */
const ADD = `
  insert into sign_in_attempts as counted (bucket, attempts, window_ends_at)
  select bucket, $4::int, $3::timestamptz from unnest($1::bytea[]) as requested (bucket) order by bucket
  on conflict (bucket) do update set
    attempts = case when counted.window_ends_at <= $2 then excluded.attempts else least(counted.attempts, 1000000) + excluded.attempts end,
    window_ends_at = case when counted.window_ends_at <= $2 then excluded.window_ends_at else counted.window_ends_at end
  returning bucket, attempts, window_ends_at`;

/** Counts in the database, shared by all replicas. Buckets are stored as hashes: people type passwords into email fields. */
export function createPostgresAttemptCounter(pool: Pool): AttemptCounter {
  return {
    async add(buckets, by, now, windowMs) {
      const hashed = buckets.map(hashOf);
      const { rows } = await pool.query<{ bucket: Buffer; attempts: number; window_ends_at: Date }>(ADD, [
        hashed,
        new Date(now),
        new Date(now + windowMs),
        by,
      ]);
      return hashed.map((bucket) => {
        const row = rows.find((candidate) => candidate.bucket.equals(bucket));
        if (!row) throw new Error('a counted bucket is missing');
        return { attempts: row.attempts, windowEndsAt: row.window_ends_at.getTime() as UnixMs };
      });
    },

    async clear(bucket) {
      await pool.query('delete from sign_in_attempts where bucket = $1', [hashOf(bucket)]);
    },
  };
}

function hashOf(bucket: string): Buffer {
  return createHash('sha256').update(bucket).digest();
}
