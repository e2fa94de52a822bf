import { utcDay } from '@gateway/base';
import type { Pool } from 'pg';
import type { SettlementStore } from '../../core/ports';
import type { SettledGeneration } from '../../core/settled-generation';

/**
 * $1 generations as a JSON array. What is stored already falls out at the
 * insert, and only what it returns is added up, so the sums count each
 * generation once. Rows of both tables are locked in one order.
 */
const RECORD = `
  with incoming as (
    select * from jsonb_populate_recordset(null::generations, $1::jsonb)
  ), fresh as (
    insert into generations select * from incoming order by id
    on conflict (id) do nothing
    returning *
  ), sums as (
    select organization_id, day, model_id, key_id, count(*) as requests,
           sum(prompt_tokens) as prompt_tokens, sum(completion_tokens) as completion_tokens,
           sum(reasoning_tokens) as reasoning_tokens, sum(cached_tokens) as cached_tokens,
           sum(cost_nano_usd) as cost_nano_usd, sum(charged_nano_usd) as charged_nano_usd
    from fresh
    group by organization_id, day, model_id, key_id
    order by organization_id, day, model_id, key_id
  ), added as (
    insert into usage_rollups as r (organization_id, day, model_id, key_id, requests, prompt_tokens,
           completion_tokens, reasoning_tokens, cached_tokens, cost_nano_usd, charged_nano_usd)
    select * from sums
    on conflict (organization_id, day, model_id, key_id) do update set
      requests = r.requests + excluded.requests,
      prompt_tokens = r.prompt_tokens + excluded.prompt_tokens,
      completion_tokens = r.completion_tokens + excluded.completion_tokens,
      reasoning_tokens = r.reasoning_tokens + excluded.reasoning_tokens,
      cached_tokens = r.cached_tokens + excluded.cached_tokens,
      cost_nano_usd = r.cost_nano_usd + excluded.cost_nano_usd,
      charged_nano_usd = r.charged_nano_usd + excluded.charged_nano_usd
  )
  select count(*) as recorded from fresh`;

/** The write side on PostgreSQL: one statement, so one round trip and one transaction, per batch. */
export function createPostgresSettlementStore(pool: Pool): SettlementStore {
  return {
    async record(generations) {
      if (generations.length === 0) return 0;
      const { rows } = await pool.query<{ recorded: bigint }>({
        name: 'usage.record',
        text: RECORD,
        values: [JSON.stringify(generations.map(rowOf))],
      });
      return Number(rows[0]?.recorded ?? 0n);
    },
  };
}

/** Amounts travel as text: JSON numbers would pass through a float in some readers. */
function rowOf(generation: SettledGeneration): Record<string, unknown> {
  const { usage } = generation;
  return {
    id: generation.id,
    organization_id: generation.organizationId,
    key_id: generation.keyId,
    request_id: generation.requestId,
    model_id: generation.modelId,
    provider: generation.provider,
    provider_model: generation.providerModel,
    created_unix_ms: generation.createdAt,
    settled_unix_ms: generation.settledAt,
    day: utcDay(generation.createdAt),
    streamed: generation.streamed,
    cancelled: generation.cancelled,
    finish_reason: generation.finishReason,
    prompt_tokens: usage.promptTokens,
    cached_tokens: usage.cachedTokens,
    image_tokens: usage.imageTokens,
    completion_tokens: usage.completionTokens,
    reasoning_tokens: usage.reasoningTokens,
    cost_nano_usd: generation.costNanoUsd.toString(),
    charged_nano_usd: generation.chargedNanoUsd.toString(),
    latency_ms: generation.latencyMs,
    generation_time_ms: generation.generationTimeMs,
    external_user: generation.externalUser ?? null,
    error_code: generation.errorCode ?? null,
    usage_source: generation.usageSource ?? null,
  };
}
