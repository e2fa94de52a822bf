import { DAY_MS, nanoUsd, utcDay, type UnixMs } from '@gateway/base';
import type { Pool } from 'pg';
import type { UsageReader } from '../../core/ports';
import type { SettledGeneration } from '../../core/settled-generation';
import type { UsageRow } from '../../core/usage-report';
import { countErrors, readRefused } from './error-counts';
import { readKeyActivity } from './key-activity';
import { readReconciliation } from './reconciliation-tables';
import { findRefusedAnywhere, listRefused } from './refusal-store';
import { generationOf, type GenerationRow } from './generation-columns';
import { scanStatements } from './generation-scan';
import { readGroups, readSeries } from './usage-series';
import { SUM_USAGE_BY_VALUE } from './value-sums';
import { readModelUse, readOrganizationUsage, readPlatformUsage, readSummary } from './usage-summary';

/** $5 has the dimensions to group by. */
const GROUPS = `
         case when 'day' = any ($5) then to_char(day, 'YYYY-MM-DD') end as day,
         case when 'model' = any ($5) then model_id end as model_id,
         case when 'api_key' = any ($5) then key_id end as key_id,
         case when 'project' = any ($5) then project_id end as project_id,
         case when 'api_type' = any ($5) then api_type end as api_type,
         sum(prompt_tokens)::bigint as prompt_tokens,
         sum(completion_tokens)::bigint as completion_tokens,
         sum(reasoning_tokens)::bigint as reasoning_tokens,
         sum(cached_tokens)::bigint as cached_tokens,
         sum(cache_write_tokens)::bigint as cache_write_tokens,
         sum(cache_write_1h_tokens)::bigint as cache_write_1h_tokens,
         sum(cost_nano_usd)::bigint as cost_nano_usd`;

/** $4 model, $7 project and $8 API, or null; $6 max rows. */
const MATCHING = `
    and ($4::text is null or model_id = $4) and ($7::text is null or project_id = $7)
    and ($8::text is null or api_type = $8)
  group by 1, 2, 3, 4, 5
  order by 1, 2, 3, 4, 5
  limit $6`;

/** $1 organization, $2 and $3 first and last day. */
const SUM_USAGE = `
  select ${GROUPS}, sum(requests)::bigint as requests
  from usage_rollups
  where organization_id = $1 and day between $2::date and $3::date ${MATCHING}`;

/**
 * As SUM_USAGE, of one run, $9. Runs have no sums, so it reads the run's generations:
 * those admitted from $2 and before $3, in milliseconds.
 */
const SUM_USAGE_OF_RUN = `
  select ${GROUPS}, count(*) as requests
  from generations
  where organization_id = $1 and run_id = $9 and created_unix_ms >= $2 and created_unix_ms < $3 ${MATCHING}`;

/** $1 organization, $2 today. */
const READ_NOW = `
  select coalesce(sum(requests), 0)::bigint as requests,
         coalesce(sum(charged_nano_usd), 0)::bigint as charged_nano_usd,
         (select id from generations where organization_id = $1 order by created_unix_ms desc limit 1)
           as latest_generation_id
  from usage_rollups
  where organization_id = $1 and day = $2::date`;

interface NowRow {
  readonly requests: bigint;
  readonly charged_nano_usd: bigint;
  readonly latest_generation_id: string | null;
}

interface CursorRow {
  readonly id: string;
  readonly created_unix_ms: bigint;
}

/** $1 organization, $2 id. */
const FIND_GENERATION = 'select * from generations where organization_id = $1 and id = $2 limit 1';

/** $1 organization, $2 id of the generation or its request, $3 max rows. */
const FIND_BY_IDS = `
  select * from generations
  where organization_id = $1 and (id = $2 or request_id = $2)
  order by created_unix_ms desc, id desc
  limit $3`;

/** As FIND_BY_IDS, in all organizations: $1 id, $2 max rows. */
export const FIND_ANYWHERE = `
  select * from generations
  where id = $1 or request_id = $1
  order by created_unix_ms desc, id desc
  limit $2`;

/** $1 organization, $2 ids, $3 and $4 oldest and newest time, which limit the partitions to read. */
const READ_BY_IDS = `
  select * from generations
  where organization_id = $1 and id = any ($2::text[]) and created_unix_ms between $3 and $4
  order by created_unix_ms desc, id desc`;

interface SumRow {
  readonly day: string | null;
  readonly model_id?: string | null;
  readonly key_id?: string | null;
  readonly project_id?: string | null;
  readonly api_type?: string | null;
  readonly value?: string | null;
  readonly is_other?: boolean;
  readonly requests: bigint;
  readonly prompt_tokens: bigint;
  readonly completion_tokens: bigint;
  readonly reasoning_tokens: bigint;
  readonly cached_tokens: bigint;
  readonly cache_write_tokens: bigint;
  readonly cache_write_1h_tokens: bigint;
  readonly cost_nano_usd: bigint;
}

/** The read side on PostgreSQL. */
export function createPostgresUsageReader(pool: Pool): UsageReader {
  return {
    readKeyActivity: (organizationId, keyIds, now) => readKeyActivity(pool, organizationId, keyIds, now),
    readReconciliation: () => readReconciliation(pool),
    readSummary: (organizationId, now) => readSummary(pool, organizationId, now),
    readModelUse: (modelIds, now) => readModelUse(pool, modelIds, now),
    readOrganizationUsage: (organizationIds, now) => readOrganizationUsage(pool, organizationIds, now),
    readPlatformUsage: (now) => readPlatformUsage(pool, now),
    async findGeneration(organizationId, id) {
      const { rows } = await pool.query<GenerationRow>({
        name: 'usage.find_generation',
        text: FIND_GENERATION,
        values: [organizationId, id],
      });
      const [row] = rows;
      return row ? generationOf(row) : undefined;
    },
    async findByIds(organizationId, id, limit) {
      const { rows } = await pool.query<GenerationRow>({
        name: 'usage.find_by_ids',
        text: FIND_BY_IDS,
        values: [organizationId, id, limit],
      });
      return rows.map(generationOf);
    },
    async findGenerationsAnywhere(id, limit) {
      const { rows } = await pool.query<GenerationRow>({
        name: 'usage.find_anywhere',
        text: FIND_ANYWHERE,
        values: [id, limit],
      });
      return rows.map(generationOf);
    },
    findRefusedAnywhere: (requestId, limit) => findRefusedAnywhere(pool, requestId, limit),
    async scan(filter, after, limit) {
      const { matches, end, mayStop } = scanStatements(filter, after, limit);
      const cursors = (await pool.query<CursorRow>(matches.text, [...matches.values])).rows;
      const found = await readGenerations(pool, filter.organizationId, cursors);
      if (!mayStop || cursors.length === limit) return { found, stoppedAt: undefined };
      const [last] = (await pool.query<CursorRow>(end.text, [...end.values])).rows;
      return { found, stoppedAt: last && { createdAt: Number(last.created_unix_ms) as UnixMs, id: last.id } };
    },
    readSeries: (query, maxRows) => readSeries(pool, query, maxRows),
    readGroups: (query, offset, limit) => readGroups(pool, query, offset, limit),
    readRefused: (query, maxRows) => readRefused(pool, query, maxRows),
    countErrors: (query) => countErrors(pool, query),
    listRefused: (filter, limit) => listRefused(pool, filter, limit),
    async readNow(organizationId, now) {
      const { rows } = await pool.query<NowRow>({
        name: 'usage.now',
        text: READ_NOW,
        values: [organizationId, utcDay(now)],
      });
      const [row] = rows;
      return {
        requests: row?.requests ?? 0n,
        chargedNanoUsd: row?.charged_nano_usd ?? 0n,
        latestGenerationId: row?.latest_generation_id ?? undefined,
      };
    },
    async sumUsage(
      { organizationId, startDay, endDay, groupBy, modelId, runId, projectId, apiType },
      maxRows,
    ) {
      const { rows } = await pool.query<SumRow>({
        name: runId === undefined ? 'usage.sum' : 'usage.sum_of_run',
        text: runId === undefined ? SUM_USAGE : SUM_USAGE_OF_RUN,
        values: [
          organizationId,
          ...(runId === undefined ? [startDay, endDay] : [Date.parse(startDay), Date.parse(endDay) + DAY_MS]),
          modelId ?? null,
          [...groupBy],
          maxRows,
          projectId ?? null,
          apiType ?? null,
          ...(runId === undefined ? [] : [runId]),
        ],
      });
      return rows.map(usageRowOf);
    },
    async sumUsageByValue({ organizationId, dimension, startDay, endDay, byDay }, maxRows) {
      const { rows } = await pool.query<SumRow>({
        ...SUM_USAGE_BY_VALUE,
        values: [organizationId, dimension, startDay, endDay, maxRows, byDay],
      });
      return rows.map((row) => ({
        ...usageRowOf(row),
        byValue: { value: row.value ?? undefined, isOther: row.is_other === true },
      }));
    },
  };
}

async function readGenerations(
  pool: Pool,
  organizationId: string,
  cursors: readonly CursorRow[],
): Promise<readonly SettledGeneration[]> {
  const newest = cursors[0]?.created_unix_ms;
  const oldest = cursors.at(-1)?.created_unix_ms;
  if (newest === undefined || oldest === undefined) return [];
  const { rows } = await pool.query<GenerationRow>({
    name: 'usage.read_by_ids',
    text: READ_BY_IDS,
    values: [organizationId, cursors.map(({ id }) => id), oldest, newest],
  });
  return rows.map(generationOf);
}

function usageRowOf(row: SumRow): UsageRow {
  return {
    day: row.day ?? undefined,
    modelId: row.model_id ?? undefined,
    keyId: row.key_id ?? undefined,
    projectId: row.project_id ?? undefined,
    apiType: row.api_type ?? undefined,
    byValue: undefined,
    requests: row.requests,
    promptTokens: row.prompt_tokens,
    completionTokens: row.completion_tokens,
    reasoningTokens: row.reasoning_tokens,
    cachedTokens: row.cached_tokens,
    cacheWriteTokens: row.cache_write_tokens,
    cacheWrite1hTokens: row.cache_write_1h_tokens,
    costNanoUsd: nanoUsd(row.cost_nano_usd),
  };
}
