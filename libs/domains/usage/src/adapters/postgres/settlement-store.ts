import { encodePrices, HOUR_MS, utcDay, type ConsumerProgress } from '@gateway/base';
import { inOneRoundTrip, plainArray, textArray } from '@gateway/database';
import { DatabaseError, type Pool, type PoolClient } from 'pg';
import type { SettlementStore } from '../../core/ports';
import { statusOf, type SettledGeneration, type StoredGeneration } from '../../core/settled-generation';
import { createPostgresGenerationTables } from './generation-tables';
import { ADD_TO_ERROR_COUNTS } from './error-counts';
import {
  addToRollup,
  providerColumns,
  providerSumsOfGenerations,
  sumsOfGenerations,
  sumsOfRollups,
} from './rollup-columns';
import { ADD_TO_VALUE_ROLLUPS } from './value-rollups';

interface Column {
  readonly name: string;
  readonly type: 'text' | 'bigint' | 'boolean' | 'date' | 'jsonb';
  /** This column of all generations, as a PostgreSQL array literal. */
  readonly encode: (generations: readonly StoredGeneration[]) => string;
}

type Read<Value> = (generation: StoredGeneration) => Value;

function text(name: string, read: Read<string | undefined>, type: 'text' | 'jsonb' = 'text'): Column {
  return { name, type, encode: (generations) => textArray(generations, read) };
}

function plain(
  type: Column['type'],
  name: string,
  read: Read<string | number | bigint | boolean | undefined>,
): Column {
  return { name, type, encode: (generations) => plainArray(generations, read) };
}

/** The columns of `generations` and their sources. */
const COLUMNS: readonly Column[] = [
  text('id', ({ id }) => id),
  text('organization_id', ({ organizationId }) => organizationId),
  text('key_id', ({ keyId }) => keyId),
  text('request_id', ({ requestId }) => requestId),
  text('model_id', ({ modelId }) => modelId),
  text('provider', ({ provider }) => provider),
  text('provider_model', ({ providerModel }) => providerModel),
  plain('bigint', 'created_unix_ms', ({ createdAt }) => createdAt),
  plain('bigint', 'settled_unix_ms', ({ settledAt }) => settledAt),
  plain('date', 'day', ({ createdAt }) => utcDay(createdAt)),
  plain('boolean', 'streamed', ({ streamed }) => streamed),
  plain('boolean', 'cancelled', ({ cancelled }) => cancelled),
  text('finish_reason', ({ finishReason }) => finishReason),
  plain('bigint', 'prompt_tokens', ({ usage }) => usage.promptTokens),
  plain('bigint', 'cached_tokens', ({ usage }) => usage.cachedTokens),
  plain('bigint', 'cache_write_tokens', ({ usage }) => usage.cacheWriteTokens),
  plain('bigint', 'cache_write_1h_tokens', ({ usage }) => usage.cacheWrite1hTokens),
  plain('bigint', 'image_tokens', ({ usage }) => usage.imageTokens),
  plain('bigint', 'completion_tokens', ({ usage }) => usage.completionTokens),
  plain('bigint', 'reasoning_tokens', ({ usage }) => usage.reasoningTokens),
  plain('bigint', 'cost_nano_usd', ({ costNanoUsd }) => costNanoUsd),
  plain('bigint', 'charged_nano_usd', ({ chargedNanoUsd }) => chargedNanoUsd),
  plain('bigint', 'latency_ms', ({ latencyMs }) => latencyMs),
  plain('bigint', 'generation_time_ms', ({ generationTimeMs }) => generationTimeMs),
  text('external_user', ({ externalUser }) => externalUser),
  text('error_code', ({ errorCode }) => errorCode),
  text('usage_source', ({ usageSource }) => usageSource),
  text('status', statusOf),
  plain('bigint', 'time_to_first_token_ms', ({ timeToFirstTokenMs }) => timeToFirstTokenMs),
  text('attempts', attemptsJson, 'jsonb'),
  text('prices', ({ prices }) => prices && encodePrices(prices)),
  plain('bigint', 'provider_cost_nano_usd', ({ providerCostNanoUsd }) => providerCostNanoUsd),
  text('run_id', ({ runId }) => runId),
  text('project_id', ({ projectId }) => projectId),
  text('api_type', ({ apiType }) => apiType),
  text('tags', tagsJson, 'jsonb'),
];
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
  ), providers as (
    select day, organization_id, provider, ${providerSumsOfGenerations} from fresh group by 1, 2, 3
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
  ), added_to_providers as (
    ${addToRollup('usage_provider_rollups', 'day, organization_id, provider', 'providers', providerColumns)}
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

function tagsJson({ tags }: SettledGeneration): string | undefined {
  if (tags.length === 0) return undefined;
  return JSON.stringify(Object.fromEntries(tags.map(({ name, value }) => [name, value])));
}

function attemptsJson({ attempts }: SettledGeneration): string | undefined {
  return (
    attempts &&
    JSON.stringify(
      attempts.map(({ provider, providerModel, reason, outcome, durationMs, error }) => ({
        provider,
        provider_model: providerModel,
        reason,
        outcome,
        duration_ms: durationMs,
        error,
      })),
    )
  );
}
