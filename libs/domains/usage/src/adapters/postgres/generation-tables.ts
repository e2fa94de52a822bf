import { dropPartitions, makePartitions, type PartitionedTable } from '@gateway/database';
import type { Pool } from 'pg';
import type { GenerationTables } from '../../core/ports';
import { USAGE_SCHEMA } from './sql/schema';

const GENERATIONS: PartitionedTable = {
  schema: USAGE_SCHEMA,
  table: 'generations',
  key: 'created_unix_ms',
  period: 'month',
  leastKeyAt: String,
};

/** Tables that are ready before their month begins. */
const MONTHS_AHEAD = 1;

/** Rows of no month that one round deletes. */
const OTHERS_LIMIT = 5_000;
const DROP_OTHERS = `
  delete from generations_default
  where (id, created_unix_ms) in (
    select id, created_unix_ms from generations_default where created_unix_ms < $1 limit ${OTHERS_LIMIT}
  )`;

/** One table per month; what is of no month that has one is in the default partition. */
export function createPostgresGenerationTables(pool: Pool): GenerationTables {
  return {
    async prepare(now) {
      await makePartitions(pool, GENERATIONS, { nowUnixMs: now, ahead: MONTHS_AHEAD });
    },
    async dropBefore(oldest) {
      const dropped = await dropPartitions(pool, GENERATIONS, { untilUnixMs: oldest });
      await pool.query(DROP_OTHERS, [oldest]);
      return dropped;
    },
  };
}
