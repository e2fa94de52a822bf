import { nanoUsd, utcDay, type UnixMs } from '@gateway/base';
import type { Pool } from 'pg';
import type { Latencies } from '../../core/latency-histogram';
import {
  valueDimensionOf,
  type GroupOrder,
  type GroupsQuery,
  type SeriesDimension,
  type SeriesScan,
  type UsageGroups,
  type UsageMetrics,
  type UsagePoint,
} from '../../core/usage-series';
import { durationColumns, firstTokenColumns, sumsOfRollups } from './rollup-columns';
import { groupsByValue, seriesByValue } from './value-sums';

/**
 * $1 organization, $2 and $3 first and last time, $4 model, $5 key and $6 project, or null, $7 to $9
 * whether to split by model, key and project, $10 max rows, $11 the ids that are shown, or null for all,
 * $12 API or null.
 */
const sumSeries = ({ table, time, parameter }: Rollups, start: string) => `
  select ${start}::bigint as start_unix_ms,
         case when $7 and ($11::text[] is null or model_id = any ($11)) then model_id end as model_id,
         case when $8 and ($11::text[] is null or key_id = any ($11)) then key_id end as key_id,
         case when $9 and ($11::text[] is null or project_id = any ($11)) then project_id end as project_id,
         ${sumsOfRollups}
  from ${table}
  where organization_id = $1 and ${time} >= $2::${parameter} and ${time} < $3::${parameter}
    and ($4::text is null or model_id = $4) and ($5::text is null or key_id = $5)
    and ($6::text is null or project_id = $6) and ($12::text is null or api_type = $12)
  group by 1, 2, 3, 4
  order by 1, 2, 3, 4
  limit $10`;

interface Rollups {
  readonly table: string;
  readonly time: string;
  readonly parameter: string;
}

const ROLLUPS = {
  hour: { table: 'usage_rollups_hourly', time: 'hour_unix_ms', parameter: 'bigint' },
  day: { table: 'usage_rollups', time: 'day', parameter: 'date' },
} as const satisfies Record<string, Rollups>;

const SERIES = {
  hour: {
    name: 'usage.series_by_hour',
    text: sumSeries(ROLLUPS.hour, 'hour_unix_ms'),
    parameterOf: (time: UnixMs) => time,
  },
  day: {
    name: 'usage.series_by_day',
    text: sumSeries(ROLLUPS.day, 'extract(epoch from day) * 1000'),
    parameterOf: utcDay,
  },
};

type SumRow = { readonly [column: string]: bigint } & {
  readonly model_id?: string | null;
  readonly key_id?: string | null;
  readonly project_id?: string | null;
  readonly value?: string | null;
};

export async function readSeries(
  pool: Pool,
  { granularity, ...query }: SeriesScan,
  maxRows: number,
): Promise<readonly UsagePoint[]> {
  const { name, text, parameterOf } = SERIES[granularity];
  const dimension = valueDimensionOf(query.splitBy);
  if (dimension !== undefined) {
    const { organizationId, start, end, shownIds = null } = query;
    const period = [organizationId, dimension, parameterOf(start), parameterOf(end)];
    const values = [...period, maxRows, shownIds];
    const { rows } = await pool.query<SumRow>({ ...seriesByValue[granularity], values });
    return rows.map(pointOf);
  }
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
      query.shownIds ?? null,
      query.apiType ?? null,
    ],
  });
  return rows.map(pointOf);
}

const GROUP_COLUMNS: Readonly<Partial<Record<SeriesDimension, string>>> = {
  model: 'model_id',
  api_key: 'key_id',
  project: 'project_id',
};

const GROUP_ORDERS: Readonly<Record<GroupOrder['sortBy'], string>> = {
  spend: 'charged_nano_usd',
  requests: 'requests',
  tokens: 'prompt_tokens + completion_tokens',
  prompt_tokens: 'prompt_tokens',
  completion_tokens: 'completion_tokens',
  errors: 'errors',
  refused: 'refused',
};

/**
 * $1 organization, $2 and $3 first and last time, $4 model, $5 key and $6 project, or null, $7 and $8
 * first and last hour, $9 offset, $10 max rows, $11 API or null.
 */
const sumGroups = (
  { table, time, parameter }: Rollups,
  column: string,
  order: string,
  direction: 'asc' | 'desc',
) => `
  with settled as (
    select ${column} as group_id, ${sumsOfRollups}
    from ${table}
    where organization_id = $1 and ${time} >= $2::${parameter} and ${time} < $3::${parameter}
      and ($4::text is null or model_id = $4) and ($5::text is null or key_id = $5)
      and ($6::text is null or project_id = $6) and ($11::text is null or api_type = $11)
    group by 1
  ), refused as (
    select ${column} as group_id, sum(refused)::bigint as refused
    from error_counts_hourly
    where organization_id = $1 and hour_unix_ms >= $7 and hour_unix_ms < $8
      and ($4::text is null or model_id = $4) and ($5::text is null or key_id = $5)
      and ($6::text is null or project_id = $6) and ($11::text is null or api_type = $11) and refused > 0
    group by 1
  )
  select *, count(*) over () as total
  from settled full join refused using (group_id)
  order by coalesce(${order}, 0) ${direction}, group_id
  offset $9 limit $10`;

type GroupRow = SumRow & { readonly group_id: string; readonly is_other?: boolean };

/** One row per model, key, project, end user or value of a tag, with its refused requests. */
export async function readGroups(
  pool: Pool,
  { granularity, dimension, sortBy, descending, ...query }: GroupsQuery,
  offset: number,
  limit: number,
): Promise<UsageGroups> {
  const { parameterOf } = SERIES[granularity];
  const order = GROUP_ORDERS[sortBy];
  const direction = descending ? 'desc' : 'asc';
  const column = GROUP_COLUMNS[dimension];
  const { organizationId, start, end } = query;
  const period = [parameterOf(start), parameterOf(end)];
  const { rows } = await pool.query<GroupRow>(
    column === undefined
      ? {
          text: groupsByValue(granularity, order, direction),
          values: [organizationId, dimension, ...period, limit, offset, start, end],
        }
      : {
          text: sumGroups(ROLLUPS[granularity], column, order, direction),
          values: [
            organizationId,
            ...period,
            query.modelId ?? null,
            query.keyId ?? null,
            query.projectId ?? null,
            start,
            end,
            offset,
            limit,
            query.apiType ?? null,
          ],
        },
  );
  return {
    groups: rows.map((row) => ({ ...metricsOf(row), id: row.group_id, isOther: row.is_other === true })),
    total: Number(rows[0]?.['total'] ?? 0n),
  };
}

function pointOf(row: SumRow): UsagePoint {
  return {
    ...metricsOf(row),
    start: Number(row['start_unix_ms'] ?? 0n) as UnixMs,
    modelId: row.model_id ?? undefined,
    keyId: row.key_id ?? undefined,
    projectId: row.project_id ?? undefined,
    value: row.value ?? undefined,
  };
}

function metricsOf(row: SumRow): UsageMetrics {
  const sum = (column: string): bigint => row[column] ?? 0n;
  const latencies = (count: bigint, total: string, columns: readonly string[]): Latencies => ({
    count,
    sumMs: sum(total),
    histogram: columns.map(sum),
  });
  return {
    requests: sum('requests'),
    errors: sum('errors'),
    cancelled: sum('cancelled'),
    refused: sum('refused'),
    promptTokens: sum('prompt_tokens'),
    cachedTokens: sum('cached_tokens'),
    cacheWriteTokens: sum('cache_write_tokens'),
    cacheWrite1hTokens: sum('cache_write_1h_tokens'),
    imageTokens: sum('image_tokens'),
    completionTokens: sum('completion_tokens'),
    reasoningTokens: sum('reasoning_tokens'),
    costNanoUsd: nanoUsd(sum('cost_nano_usd')),
    chargedNanoUsd: nanoUsd(sum('charged_nano_usd')),
    // Sums by value have no latencies.
    duration: latencies(
      'duration_ms' in row ? sum('requests') - sum('errors') : 0n,
      'duration_ms',
      durationColumns,
    ),
    firstToken: latencies(sum('first_token_count'), 'first_token_ms', firstTokenColumns),
  };
}
