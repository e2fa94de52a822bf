import { nanoUsd, utcDay, type Prices, type UnixMs } from '@gateway/base';
import { createPrismaAdapter } from '@gateway/database';
import type { Pool } from 'pg';
import type { UsageReader } from '../../core/ports';
import type { ProviderAttempt, SettledGeneration } from '../../core/settled-generation';
import type { UsageRow } from '../../core/usage-report';
import { PrismaClient, type Generation } from '../prisma/generated/client';
import { readKeyActivity } from './key-activity';
import { readReconciliation } from './reconciliation-tables';
import { scanStatements } from './generation-scan';
import { readSeries } from './usage-series';
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

interface PlaceRow {
  readonly id: string;
  readonly created_unix_ms: bigint;
}

const NEWEST_FIRST = [{ createdUnixMs: 'desc' }, { id: 'desc' }] as const satisfies object[];

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
    readKeyActivity: (organizationId, keyIds, now) => readKeyActivity(pool, organizationId, keyIds, now),
    readReconciliation: () => readReconciliation(pool),
    async findGeneration(organizationId, id) {
      const row = await prisma.generation.findFirst({ where: { id, organizationId } });
      return row ? generationOf(row) : undefined;
    },
    async findByIds(organizationId, id, limit) {
      const rows = await prisma.generation.findMany({
        where: { organizationId, OR: [{ id }, { requestId: id }] },
        orderBy: [...NEWEST_FIRST],
        take: limit,
      });
      return rows.map(generationOf);
    },
    async scan(filter, after, limit) {
      const { matches, end, mayStop } = scanStatements(filter, after, limit);
      const places = (await pool.query<PlaceRow>(matches.text, [...matches.values])).rows;
      const found = await readAt(prisma, filter.organizationId, places);
      if (!mayStop || places.length === limit) return { found, stoppedAt: undefined };
      const [last] = (await pool.query<PlaceRow>(end.text, [...end.values])).rows;
      return { found, stoppedAt: last && { created: Number(last.created_unix_ms) as UnixMs, id: last.id } };
    },
    readSeries: (query, maxRows) => readSeries(pool, query, maxRows),
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

/** The times tell the database which months to look in. */
async function readAt(
  prisma: PrismaClient,
  organizationId: string,
  places: readonly PlaceRow[],
): Promise<readonly SettledGeneration[]> {
  const newest = places[0]?.created_unix_ms;
  const oldest = places.at(-1)?.created_unix_ms;
  if (newest === undefined || oldest === undefined) return [];
  const rows = await prisma.generation.findMany({
    where: {
      organizationId,
      id: { in: places.map(({ id }) => id) },
      createdUnixMs: { gte: oldest, lte: newest },
    },
    orderBy: [...NEWEST_FIRST],
  });
  return rows.map(generationOf);
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
    timeToFirstTokenMs: row.timeToFirstTokenMs === null ? undefined : Number(row.timeToFirstTokenMs),
    attempts: Array.isArray(row.attempts)
      ? (row.attempts as unknown as AttemptJson[]).map(attemptOf)
      : undefined,
    prices: pricesOf(row),
  };
}

/** As the settlement store writes them. */
interface AttemptJson {
  readonly provider: string;
  readonly provider_model: string;
  readonly outcome: string;
  readonly duration_ms: number;
}

function attemptOf(attempt: AttemptJson): ProviderAttempt {
  const { provider, provider_model: providerModel, outcome, duration_ms: durationMs } = attempt;
  return { provider, providerModel, outcome, durationMs };
}

function pricesOf(row: Generation): Prices | undefined {
  if (row.inputNanoUsdPerMillion === null) return undefined;
  return {
    inputNanoUsdPerMillion: row.inputNanoUsdPerMillion,
    cachedInputNanoUsdPerMillion: row.cachedInputNanoUsdPerMillion ?? 0n,
    outputNanoUsdPerMillion: row.outputNanoUsdPerMillion ?? 0n,
    reasoningNanoUsdPerMillion: row.reasoningNanoUsdPerMillion ?? 0n,
    imageNanoUsdPerMillion: row.imageNanoUsdPerMillion ?? 0n,
  };
}
