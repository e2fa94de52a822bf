import { nanoUsd, type UnixMs } from '@gateway/base';
import { createPrismaAdapter } from '@gateway/database';
import type { Pool } from 'pg';
import type { UsageReader } from '../../core/ports';
import type { SettledGeneration } from '../../core/settled-generation';
import type { UsageRow } from '../../core/usage-report';
import { PrismaClient, type Generation } from '../prisma/generated/client';
import { USAGE_SCHEMA } from './usage-schema';

/**
 * $1 organization, $2 and $3 first and last day, $4 model or null, $5 to $7
 * whether to group by day, model and key, $8 most rows.
 */
const SUM_USAGE = `
  select case when $5 then to_char(day, 'YYYY-MM-DD') end as day,
         case when $6 then model_id end as model_id,
         case when $7 then key_id end as key_id,
         sum(requests)::bigint as requests,
         sum(prompt_tokens)::bigint as prompt_tokens,
         sum(completion_tokens)::bigint as completion_tokens,
         sum(reasoning_tokens)::bigint as reasoning_tokens,
         sum(cached_tokens)::bigint as cached_tokens,
         sum(cost_nano_usd)::bigint as cost_nano_usd
  from usage_rollups
  where organization_id = $1 and day between $2::date and $3::date and ($4::text is null or model_id = $4)
  group by 1, 2, 3
  order by 1, 2, 3
  limit $8`;

interface SumRow {
  readonly day: string | null;
  readonly model_id: string | null;
  readonly key_id: string | null;
  readonly requests: bigint;
  readonly prompt_tokens: bigint;
  readonly completion_tokens: bigint;
  readonly reasoning_tokens: bigint;
  readonly cached_tokens: bigint;
  readonly cost_nano_usd: bigint;
}

/** The read side on PostgreSQL. */
export function createPostgresUsageReader(pool: Pool): UsageReader {
  const prisma = new PrismaClient({ adapter: createPrismaAdapter(pool, USAGE_SCHEMA) });
  return {
    async findGeneration(organizationId, id) {
      const row = await prisma.generation.findFirst({ where: { id, organizationId } });
      return row ? generationOf(row) : undefined;
    },
    async sumUsage({ organizationId, startDay, endDay, groupBy, modelId }, maxRows) {
      const { rows } = await pool.query<SumRow>({
        name: 'usage.sum',
        text: SUM_USAGE,
        values: [
          organizationId,
          startDay,
          endDay,
          modelId ?? null,
          groupBy.has('day'),
          groupBy.has('model'),
          groupBy.has('api_key'),
          maxRows,
        ],
      });
      return rows.map(usageRowOf);
    },
  };
}

function usageRowOf(row: SumRow): UsageRow {
  return {
    day: row.day ?? undefined,
    modelId: row.model_id ?? undefined,
    keyId: row.key_id ?? undefined,
    requests: row.requests,
    promptTokens: row.prompt_tokens,
    completionTokens: row.completion_tokens,
    reasoningTokens: row.reasoning_tokens,
    cachedTokens: row.cached_tokens,
    costNanoUsd: nanoUsd(row.cost_nano_usd),
  };
}

function generationOf(row: Generation): SettledGeneration {
  return {
    id: row.id,
    organizationId: row.organizationId,
    keyId: row.keyId,
    requestId: row.requestId,
    modelId: row.modelId,
    provider: row.provider,
    providerModel: row.providerModel,
    createdAt: Number(row.createdUnixMs) as UnixMs,
    settledAt: Number(row.settledUnixMs) as UnixMs,
    streamed: row.streamed,
    cancelled: row.cancelled,
    finishReason: row.finishReason,
    usage: {
      promptTokens: Number(row.promptTokens),
      cachedTokens: Number(row.cachedTokens),
      imageTokens: Number(row.imageTokens),
      completionTokens: Number(row.completionTokens),
      reasoningTokens: Number(row.reasoningTokens),
    },
    usageSource:
      row.usageSource === 'provider' || row.usageSource === 'counted' ? row.usageSource : undefined,
    costNanoUsd: nanoUsd(row.costNanoUsd),
    chargedNanoUsd: nanoUsd(row.chargedNanoUsd),
    latencyMs: Number(row.latencyMs),
    generationTimeMs: Number(row.generationTimeMs),
    externalUser: row.externalUser ?? undefined,
    errorCode: row.errorCode ?? undefined,
  };
}
