import { apiTypeOf, decodePrices, encodePrices, nanoUsd, utcDay, type Tag, type UnixMs } from '@gateway/base';
import { plainArray, textArray } from '@gateway/database';
import {
  statusOf,
  type ProviderAttempt,
  type SettledGeneration,
  type StoredGeneration,
} from '../../core/settled-generation';

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

/** The columns of `generations` and their sources. `generationOf` reads them. */
export const COLUMNS: readonly Column[] = [
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

/** A row of `generations`, without the columns that only sums read. */
export interface GenerationRow {
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

export function generationOf(row: GenerationRow): SettledGeneration {
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

/** An attempt in the column `attempts`. */
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
