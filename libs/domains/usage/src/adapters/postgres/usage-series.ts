import { nanoUsd, utcDay, type UnixMs } from '@gateway/base';
import type { Pool } from 'pg';
import type { Latencies } from '../../core/latency-histogram';
import type { SeriesQuery, UsagePoint } from '../../core/usage-series';
import { durationColumns, firstTokenColumns, sumsOfRollups } from './rollup-columns';

/**
 * $1 organization, $2 and $3 first and last time, $4 model, $5 key and $6 project, or null, $7 to $9
 * whether to split by model, key and project, $10 max rows.
 */
const sumSeries = (table: string, time: string, start: string, parameter: string) => `
  select ${start}::bigint as start_unix_ms,
         case when $7 then model_id end as model_id,
         case when $8 then key_id end as key_id,
         case when $9 then project_id end as project_id,
         ${sumsOfRollups}
  from ${table}
  where organization_id = $1 and ${time} >= $2::${parameter} and ${time} < $3::${parameter}
    and ($4::text is null or model_id = $4) and ($5::text is null or key_id = $5)
    and ($6::text is null or project_id = $6)
  group by 1, 2, 3, 4
  order by 1, 2, 3, 4
  limit $10`;

const SERIES = {
  hour: {
    name: 'usage.series_by_hour',
    text: sumSeries('usage_rollups_hourly', 'hour_unix_ms', 'hour_unix_ms', 'bigint'),
    parameterOf: (time: UnixMs) => time,
  },
  day: {
    name: 'usage.series_by_day',
    text: sumSeries('usage_rollups', 'day', 'extract(epoch from day) * 1000', 'date'),
    parameterOf: utcDay,
  },
};

type SumRow = { readonly [column: string]: bigint } & {
  readonly model_id: string | null;
  readonly key_id: string | null;
  readonly project_id: string | null;
};

export async function readSeries(
  pool: Pool,
  { granularity, ...query }: SeriesQuery,
  maxRows: number,
): Promise<readonly UsagePoint[]> {
  const { name, text, parameterOf } = SERIES[granularity];
  const { rows } = await pool.query<SumRow>({
    name,
    text,
    values: [
      query.organizationId,
      parameterOf(query.start),
      parameterOf(query.end),
      query.modelId ?? null,
      query.keyId ?? null,
      query.projectId ?? null,
      query.splitBy.has('model'),
      query.splitBy.has('api_key'),
      query.splitBy.has('project'),
      maxRows,
    ],
  });
  return rows.map(pointOf);
}

function pointOf(row: SumRow): UsagePoint {
  const sum = (column: string): bigint => row[column] ?? 0n;
  const latencies = (count: bigint, total: string, columns: readonly string[]): Latencies => ({
    count,
    sumMs: sum(total),
    histogram: columns.map(sum),
  });
  return {
    start: Number(sum('start_unix_ms')) as UnixMs,
    modelId: row.model_id ?? undefined,
    keyId: row.key_id ?? undefined,
    projectId: row.project_id ?? undefined,
    requests: sum('requests'),
    errors: sum('errors'),
    cancelled: sum('cancelled'),
    refused: 0n,
    promptTokens: sum('prompt_tokens'),
    cachedTokens: sum('cached_tokens'),
    cacheWriteTokens: sum('cache_write_tokens'),
    cacheWrite1hTokens: sum('cache_write_1h_tokens'),
    imageTokens: sum('image_tokens'),
    completionTokens: sum('completion_tokens'),
    reasoningTokens: sum('reasoning_tokens'),
    costNanoUsd: nanoUsd(sum('cost_nano_usd')),
    chargedNanoUsd: nanoUsd(sum('charged_nano_usd')),
    duration: latencies(sum('requests') - sum('errors'), 'duration_ms', durationColumns),
    firstToken: latencies(sum('first_token_count'), 'first_token_ms', firstTokenColumns),
  };
}
