import {
  UsageDimension,
  UsageGranularity,
  type GetUsageSeriesRequest,
  type Latency,
  type Margin,
  type UsageMetrics,
  type UsagePoint,
  type UsageTotals,
} from '@gateway/contracts/generation-query';
import { isoTime, usd } from './views';

const GRANULARITIES = {
  hour: UsageGranularity.USAGE_GRANULARITY_HOUR,
  day: UsageGranularity.USAGE_GRANULARITY_DAY,
} as const;

const SPLITS = {
  none: [],
  model: [UsageDimension.USAGE_DIMENSION_MODEL],
  key: [UsageDimension.USAGE_DIMENSION_API_KEY],
  'model,key': [UsageDimension.USAGE_DIMENSION_MODEL, UsageDimension.USAGE_DIMENSION_API_KEY],
  project: [UsageDimension.USAGE_DIMENSION_PROJECT],
} as const;

export interface UsageRangeQuery {
  readonly start: string;
  readonly end: string;
  readonly granularity: keyof typeof GRANULARITIES;
  readonly split_by: keyof typeof SPLITS;
  readonly model_id?: string | undefined;
  readonly key_id?: string | undefined;
  readonly project_id?: string | undefined;
}

export function seriesRequest(organizationId: string, query: UsageRangeQuery): GetUsageSeriesRequest {
  return {
    organizationId,
    startUnixMs: BigInt(Date.parse(query.start)),
    endUnixMs: BigInt(Date.parse(query.end)),
    granularity: GRANULARITIES[query.granularity],
    splitBy: [...SPLITS[query.split_by]],
    modelId: query.model_id,
    keyId: query.key_id,
    projectId: query.project_id,
  };
}

export function usagePointView(point: UsagePoint) {
  return {
    ...usageMetricsView(point.metrics),
    start: isoTime(point.startUnixMs),
    model_id: point.modelId ?? null,
    key_id: point.keyId ?? null,
    project_id: point.projectId ?? null,
  };
}

export function usageMetricsView(metrics: UsageMetrics | undefined) {
  return {
    requests: Number(metrics?.requests ?? 0n),
    errors: Number(metrics?.errors ?? 0n),
    cancelled: Number(metrics?.cancelled ?? 0n),
    refused: Number(metrics?.refused ?? 0n),
    prompt_tokens: Number(metrics?.promptTokens ?? 0n),
    cached_tokens: Number(metrics?.cachedTokens ?? 0n),
    cache_write_tokens: Number(metrics?.cacheWriteTokens ?? 0n),
    cache_write_1h_tokens: Number(metrics?.cacheWrite1hTokens ?? 0n),
    image_tokens: Number(metrics?.imageTokens ?? 0n),
    completion_tokens: Number(metrics?.completionTokens ?? 0n),
    reasoning_tokens: Number(metrics?.reasoningTokens ?? 0n),
    cost_usd: usd(metrics?.costNanoUsd ?? 0n),
    spend_usd: usd(metrics?.chargedNanoUsd ?? 0n),
    duration: latencyView(metrics?.duration),
    time_to_first_token: latencyView(metrics?.timeToFirstToken),
  };
}

export function usageTotalsView(totals: UsageTotals | undefined) {
  return {
    requests: Number(totals?.requests ?? 0n),
    errors: Number(totals?.errors ?? 0n),
    spend_usd: usd(totals?.chargedNanoUsd ?? 0n),
  };
}

/** Null when no provider cost is known. */
export function marginView(margin: Margin | undefined) {
  const { chargedNanoUsd = 0n, providerCostNanoUsd = 0n } = margin ?? {};
  if (chargedNanoUsd === 0n && providerCostNanoUsd === 0n) return null;
  return {
    spend_usd: usd(chargedNanoUsd),
    provider_cost_usd: usd(providerCostNanoUsd),
    margin_usd: usd(chargedNanoUsd - providerCostNanoUsd),
  };
}

function latencyView(latency: Latency | undefined) {
  return latency ? { mean_ms: latency.meanMs, p50_ms: latency.p50Ms, p95_ms: latency.p95Ms } : null;
}
