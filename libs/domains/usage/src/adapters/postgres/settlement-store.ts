import { HOUR_MS, type ConsumerProgress } from '@gateway/base';
import { inOneRoundTrip } from '@gateway/database';
import { DatabaseError, type Pool, type PoolClient } from 'pg';
import type { SettlementStore } from '../../core/ports';
import { COLUMNS } from './generation-columns';
import { createPostgresGenerationTables } from './generation-tables';
import { ADD_TO_ERROR_COUNTS } from './error-counts';
import { addToRollup, sumsOfGenerations, sumsOfRollups } from './rollup-columns';
import { ADD_TO_VALUE_ROLLUPS } from './value-rollups';

const columnNames = COLUMNS.map(({ name }) => name).join(', ');

/**
 * Takes one array per column. Only inserted rows are summed, so each generation
 * counts once. Rows of all tables are locked in the same order.
 */
const recordSql = (onConflict: string) => `
  with incoming as (
    select * from unnest(${COLUMNS.map(({ type }, index) => `$${index + 1}::${type}[]`).join(', ')})
      as given (${columnNames})
  ), fresh as (
    insert into generations (${columnNames}) select ${columnNames} from incoming order by id
    ${onConflict}
    returning *
  ), hours as (
    select organization_id, created_unix_ms / ${HOUR_MS} * ${HOUR_MS} as hour_unix_ms, day, model_id, key_id,
           project_id, api_type, ${sumsOfGenerations}
    from fresh
    group by 1, 2, 3, 4, 5, 6, 7
  ), days as (
    select organization_id, day, model_id, key_id, project_id, api_type, ${sumsOfRollups} from hours
    group by 1, 2, 3, 4, 5, 6
  ), failures as (
    select organization_id, created_unix_ms / ${HOUR_MS} * ${HOUR_MS} as hour_unix_ms,
           coalesce(error_code, '') as error_code, model_id, key_id, project_id, api_type, count(*) as failed
    from fresh
    where status = 'failed'
    group by 1, 2, 3, 4, 5, 6, 7
  ), added_to_errors as (
    ${ADD_TO_ERROR_COUNTS('0', 'failed', 'failures')}
  ), added_to_hours as (
    ${addToRollup('usage_rollups_hourly', 'organization_id, hour_unix_ms, model_id, key_id, project_id, api_type', 'hours')}
  ), added_to_days as (
    ${addToRollup('usage_rollups', 'organization_id, day, model_id, key_id, project_id, api_type', 'days')}
  ), ${ADD_TO_VALUE_ROLLUPS}
  select coalesce(sum(requests), 0)::bigint as recorded from days`;

/**
 * Nearly every batch is new, and an insert without conflict handling costs a sixth
 * less. Fails without an effect if a generation is stored already.
 */
const RECORD_NEW = { name: 'usage.record_new', text: recordSql('') };

/** Skips stored generations. */
const RECORD = {
  name: 'usage.record',
  text: recordSql('on conflict (id, created_unix_ms) do nothing'),
};

const UNIQUE_VIOLATION = '23505';

/** The write side on PostgreSQL: one statement per batch, or two if some generations are stored already. */
export function createPostgresSettlementStore(pool: Pool): SettlementStore {
  async function record(
    statement: { name: string; text: string },
    values: string[],
    progress: ConsumerProgress | undefined,
  ): Promise<number> {
    let recorded = 0;
    const query = async (client: Pool | PoolClient): Promise<void> => {
      const { rows } = await (client as PoolClient).query<{ recorded: bigint }>({ ...statement, values });
      recorded = Number(rows[0]?.recorded ?? 0n);
    };
    if (progress === undefined) {
      await query(pool);
    } else {
      await inOneRoundTrip(pool, (client) => [query(client), progress.write(client)]);
      progress.committed();
    }
    return recorded;
  }

  return {
    ...createPostgresGenerationTables(pool),
    async record(generations, progress) {
      if (generations.length === 0) return 0;
      const values = COLUMNS.map(({ encode }) => encode(generations));
      try {
        return await record(RECORD_NEW, values, progress);
      } catch (error) {
        if (!(error instanceof DatabaseError && error.code === UNIQUE_VIOLATION)) throw error;
        return record(RECORD, values, progress);
      }
    },
  };
}
