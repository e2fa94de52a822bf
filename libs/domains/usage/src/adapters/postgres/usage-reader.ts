import { apiTypeOf, DAY_MS, decodePrices, nanoUsd, utcDay, type Tag, type UnixMs } from '@gateway/base';
import type { Pool } from 'pg';
import type { UsageReader } from '../../core/ports';
import type { ProviderAttempt, SettledGeneration } from '../../core/settled-generation';
import type { UsageRow } from '../../core/usage-report';
import { countErrors, readRefused } from './error-counts';
import { readKeyActivity } from './key-activity';
import { readReconciliation } from './reconciliation-tables';
import { findRefusedAnywhere, listRefused } from './refusal-store';
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

interface GenerationRow {
  readonly id: string;
  readonly organization_id: string;
  readonly key_id: string;
  readonly request_id: string;
  readonly model_id: string;
  readonly provider: string;
  readonly provider_model: string;
  readonly created_unix_ms: bigint;
  readonly settled_unix_ms: bigint;
  readonly streamed: boolean;
  readonly cancelled: boolean;
  readonly finish_reason: string;
  readonly prompt_tokens: bigint;
  readonly cached_tokens: bigint;
  readonly cache_write_tokens: bigint;
  readonly cache_write_1h_tokens: bigint;
  readonly image_tokens: bigint;
  readonly completion_tokens: bigint;
  readonly reasoning_tokens: bigint;
  readonly cost_nano_usd: bigint;
  readonly charged_nano_usd: bigint;
  readonly latency_ms: bigint;
  readonly generation_time_ms: bigint;
  readonly external_user: string | null;
  readonly project_id: string;
  readonly api_type: string;
  readonly tags: Readonly<Record<string, string>> | null;
  readonly error_code: string | null;
  readonly usage_source: string | null;
  readonly time_to_first_token_ms: bigint | null;
  readonly attempts: readonly AttemptJson[] | null;
  readonly prices: string | null;
}

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
      return { found, stoppedAt: last && { created: Number(last.created_unix_ms) as UnixMs, id: last.id } };
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

function generationOf(row: GenerationRow): SettledGeneration {
  return {
    id: row.id,
    organizationId: row.organization_id,
    keyId: row.key_id,
    requestId: row.request_id,
    modelId: row.model_id,
    provider: row.provider,
    providerModel: row.provider_model,
    createdAt: Number(row.created_unix_ms) as UnixMs,
    settledAt: Number(row.settled_unix_ms) as UnixMs,
    streamed: row.streamed,
    cancelled: row.cancelled,
    finishReason: row.finish_reason,
    usage: {
      promptTokens: Number(row.prompt_tokens),
      cachedTokens: Number(row.cached_tokens),
      cacheWriteTokens: Number(row.cache_write_tokens),
      cacheWrite1hTokens: Number(row.cache_write_1h_tokens),
      imageTokens: Number(row.image_tokens),
      completionTokens: Number(row.completion_tokens),
      reasoningTokens: Number(row.reasoning_tokens),
    },
    usageSource:
      row.usage_source === 'provider' || row.usage_source === 'counted' ? row.usage_source : undefined,
    costNanoUsd: nanoUsd(row.cost_nano_usd),
    chargedNanoUsd: nanoUsd(row.charged_nano_usd),
    latencyMs: Number(row.latency_ms),
    generationTimeMs: Number(row.generation_time_ms),
    externalUser: row.external_user ?? undefined,
    projectId: row.project_id,
    apiType: apiTypeOf(row.api_type),
    tags: tagsOf(row.tags ?? {}),
    errorCode: row.error_code ?? undefined,
    timeToFirstTokenMs: row.time_to_first_token_ms === null ? undefined : Number(row.time_to_first_token_ms),
    attempts: row.attempts?.map(attemptOf),
    prices: row.prices === null ? undefined : decodePrices(row.prices),
  };
}

/** PostgreSQL orders names by their length first. */
function tagsOf(tags: Readonly<Record<string, string>>): readonly Tag[] {
  return Object.entries(tags)
    .map(([name, value]) => ({ name, value }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** The JSON format of the settlement store. */
interface AttemptJson {
  readonly provider: string;
  readonly provider_model: string;
  readonly reason: string;
  readonly outcome: string;
  readonly duration_ms: number;
  /** Absent without an error. */
  readonly error?: ProviderAttempt['error'];
}

function attemptOf(attempt: AttemptJson): ProviderAttempt {
  const { provider_model: providerModel, duration_ms: durationMs, error, ...others } = attempt;
  return { providerModel, durationMs, error, ...others };
}
