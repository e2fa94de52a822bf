import { dropPartitions, createPartitions, type PartitionedTable } from '@gateway/database';
import type { Pool } from 'pg';
import type { GenerationTables } from '../../core/ports';
import { USAGE_SCHEMA } from './sql/schema';

const GENERATIONS: PartitionedTable = {
  schema: USAGE_SCHEMA,
  table: 'generations',
  key: 'created_unix_ms',
  period: 'month',
  smallestKeyAt: String,
};

/** Partitions created before their month starts. */
const MONTHS_AHEAD = 1;

/** Rows deleted from the default partition per round. */
const MAX_DELETED_ROWS = 5_000;
const DELETE_FROM_DEFAULT = `
  delete from generations_default
  where (id, created_unix_ms) in (
    select id, created_unix_ms from generations_default where created_unix_ms < $1 limit ${MAX_DELETED_ROWS}
  )`;

/** One partition per month; other rows are in the default partition. */
export function createPostgresGenerationTables(pool: Pool): GenerationTables {
  return {
    async prepare(now) {
      await createPartitions(pool, GENERATIONS, { nowUnixMs: now, ahead: MONTHS_AHEAD });
    },
    async dropBefore(oldest) {
      const dropped = await dropPartitions(pool, GENERATIONS, { untilUnixMs: oldest });
      await pool.query(DELETE_FROM_DEFAULT, [oldest]);
      return dropped;
    },
  };
}
