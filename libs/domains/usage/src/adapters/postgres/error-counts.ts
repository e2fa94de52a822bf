import { DAY_MS, HOUR_MS, type UnixMs } from '@gateway/base';
import type { Pool } from 'pg';
import type { ErrorCount, ErrorCountsQuery } from '../../core/refusals';
import { valueDimensionOf, type RefusedPoint, type SeriesScan } from '../../core/usage-series';

const KEY = 'organization_id, hour_unix_ms, error_code, model_id, key_id, project_id, api_type';

/** Adds expressions over a relation with the key's columns. Rows are locked in key order. */
export const ADD_TO_ERROR_COUNTS = (refused: string, failed: string, relation: string) => `
    insert into error_counts_hourly as counted (${KEY}, refused, failed)
    select ${KEY}, ${refused}, ${failed} from ${relation} order by ${KEY}
    on conflict (${KEY}) do update set
      refused = counted.refused + excluded.refused, failed = counted.failed + excluded.failed`;

/** $1 organization, $2 and $3 first and last hour, $4 model, $5 key, $6 project and $7 API, or null. */
const MATCHING = `
  from error_counts_hourly
  where organization_id = $1 and hour_unix_ms >= $2 and hour_unix_ms < $3
    and ($4::text is null or model_id = $4) and ($5::text is null or key_id = $5)
    and ($6::text is null or project_id = $6) and ($7::text is null or api_type = $7)`;

const COUNT_ERRORS = {
  name: 'usage.count_errors',
  text: `
  select error_code, sum(refused)::bigint as refused, sum(failed)::bigint as failed ${MATCHING}
  group by error_code
  order by sum(refused + failed) desc, error_code`,
};

/** $8 to $10 whether to split by model, key and project, $11 max rows, $12 milliseconds per point, $13 the ids that are shown, or null for all. */
const READ_REFUSED = {
  name: 'usage.read_refused',
  text: `
  select hour_unix_ms / $12::bigint * $12::bigint as start_unix_ms,
         case when $8 and ($13::text[] is null or model_id = any ($13)) then model_id end as model_id,
         case when $9 and ($13::text[] is null or key_id = any ($13)) then key_id end as key_id,
         case when $10 and ($13::text[] is null or project_id = any ($13)) then project_id end as project_id,
         sum(refused)::bigint as refused ${MATCHING} and refused > 0
  group by 1, 2, 3, 4
  order by 1, 2, 3, 4
  limit $11`,
};

const HOUR_OR_DAY_MS = { hour: HOUR_MS, day: DAY_MS };

interface CountRow {
  readonly error_code: string;
  readonly refused: bigint;
  readonly failed: bigint;
}

export async function countErrors(pool: Pool, query: ErrorCountsQuery): Promise<readonly ErrorCount[]> {
  const { organizationId, start, end, modelId, keyId, projectId, apiType } = query;
  const { rows } = await pool.query<CountRow>({
    ...COUNT_ERRORS,
    values: [organizationId, start, end, modelId ?? null, keyId ?? null, projectId ?? null, apiType ?? null],
  });
  return rows.map(({ error_code: errorCode, refused, failed }) => ({ errorCode, refused, failed }));
}

interface RefusedRow {
  readonly start_unix_ms: bigint;
  readonly model_id: string | null;
  readonly key_id: string | null;
  readonly project_id: string | null;
  readonly refused: bigint;
}

export async function readRefused(
  pool: Pool,
  {
    organizationId,
    start,
    end,
    modelId,
    keyId,
    projectId,
    apiType,
    splitBy,
    granularity,
    shownIds,
  }: SeriesScan,
  maxRows: number,
): Promise<readonly RefusedPoint[]> {
  const { rows } = await pool.query<RefusedRow>({
    ...READ_REFUSED,
    values: [
      organizationId,
      start,
      end,
      modelId ?? null,
      keyId ?? null,
      projectId ?? null,
      apiType ?? null,
      splitBy.has('model'),
      splitBy.has('api_key'),
      splitBy.has('project'),
      maxRows,
      HOUR_OR_DAY_MS[granularity],
      shownIds ?? null,
    ],
  });
  const isShown = valueDimensionOf(splitBy) !== undefined && (shownIds?.includes('') ?? true);
  return rows.map((row) => ({
    start: Number(row.start_unix_ms) as UnixMs,
    modelId: row.model_id ?? undefined,
    keyId: row.key_id ?? undefined,
    projectId: row.project_id ?? undefined,
    value: isShown ? '' : undefined,
    refused: row.refused,
  }));
}
