import { isoTime, timeOrNull, usd } from '@gateway/admin-calls';
import { meanMs, quantileMs, type Latencies } from '../../core/latency-histogram';
import type { KeyActivity, UsageReconciliation } from '../../core/ports';
import type { Sums } from '../../core/reconciliation/compare';
import type { ErrorCount } from '../../core/refusals';
import type { SeriesQuery, UsageMetrics, UsagePoint, UsageSeries, UsageGroup } from '../../core/usage-series';
import type {
  Margin,
  ModelUse,
  OrganizationUsage,
  PlatformUsage,
  UsageSummary,
  UsageTotals,
} from '../../core/usage-summary';

export function seriesView(series: UsageSeries, granularity: SeriesQuery['granularity']) {
  return {
    timezone: 'UTC' as const,
    granularity,
    start: isoTime(series.start),
    end: isoTime(series.end),
    totals: metricsView(series.totals),
    data: series.points.map(pointView),
  };
}

function pointView(point: UsagePoint) {
  return {
    ...metricsView(point),
    start: isoTime(point.start),
    model_id: point.modelId ?? null,
    key_id: point.keyId ?? null,
    project_id: point.projectId ?? null,
    value: point.value ?? null,
  };
}

export function groupView({ id, isOther, ...metrics }: UsageGroup) {
  return { ...metricsView(metrics), id, other_values: isOther };
}

function metricsView(metrics: UsageMetrics) {
  return {
    requests: Number(metrics.requests),
    errors: Number(metrics.errors),
    cancelled: Number(metrics.cancelled),
    refused: Number(metrics.refused),
    prompt_tokens: Number(metrics.promptTokens),
    cached_tokens: Number(metrics.cachedTokens),
    cache_write_tokens: Number(metrics.cacheWriteTokens),
    cache_write_1h_tokens: Number(metrics.cacheWrite1hTokens),
    image_tokens: Number(metrics.imageTokens),
    completion_tokens: Number(metrics.completionTokens),
    reasoning_tokens: Number(metrics.reasoningTokens),
    cost_usd: usd(metrics.costNanoUsd),
    spend_usd: usd(metrics.chargedNanoUsd),
    duration: latencyView(metrics.duration),
    time_to_first_token: latencyView(metrics.firstToken),
  };
}

function latencyView(latencies: Latencies) {
  const mean = meanMs(latencies);
  if (mean === undefined) return null;
  return { mean_ms: mean, p50_ms: quantileMs(latencies, 0.5) ?? 0, p95_ms: quantileMs(latencies, 0.95) ?? 0 };
}

export function errorCountView({ errorCode, refused, failed }: ErrorCount) {
  return { code: errorCode, refused: Number(refused), failed: Number(failed) };
}

export function summaryView(summary: UsageSummary) {
  return {
    current: totalsView(summary.current),
    previous: totalsView(summary.previous),
    spend_last_7_days_usd: usd(summary.chargedLast7DaysNanoUsd),
    top_keys: summary.topKeys.map(({ keyId, totals }) => ({ key_id: keyId, ...totalsView(totals) })),
  };
}

export function platformUsageView({ today, last30Days, margin, days, models }: PlatformUsage) {
  return {
    today: totalsView(today),
    last_30_days: totalsView(last30Days),
    margin: marginView(margin),
    days: days.map((one) => ({ day: one.day, ...totalsView(one.totals), margin: marginView(one.margin) })),
    models: models.map((one) => ({
      model_id: one.modelId,
      ...totalsView(one.totals),
      margin: marginView(one.margin),
    })),
  };
}

export function organizationUsageView({ totals, margin, lastUsedAt }: OrganizationUsage) {
  return {
    last_30_days: totalsView(totals),
    margin: marginView(margin),
    last_used_at: timeOrNull(lastUsedAt),
  };
}

function totalsView({ requests, errors, chargedNanoUsd }: UsageTotals) {
  return { requests: Number(requests), errors: Number(errors), spend_usd: usd(chargedNanoUsd) };
}

/** Null when no provider cost is known. */
function marginView({ chargedNanoUsd, providerCostNanoUsd }: Margin) {
  if (chargedNanoUsd === 0n && providerCostNanoUsd === 0n) return null;
  return {
    spend_usd: usd(chargedNanoUsd),
    provider_cost_usd: usd(providerCostNanoUsd),
    margin_usd: usd(chargedNanoUsd - providerCostNanoUsd),
  };
}

export function keyActivityView(activity: KeyActivity) {
  return {
    last_used_at: timeOrNull(activity.lastUsedAt),
    spend_today_usd: usd(activity.chargedTodayNanoUsd),
    spend_this_month_usd: usd(activity.chargedThisMonthNanoUsd),
  };
}

export function modelUseView({ modelId, organizations, keys, requests }: ModelUse) {
  return {
    model: modelId,
    organizations: Number(organizations),
    keys: Number(keys),
    requests: Number(requests),
  };
}

export function reconciliationView({ comparedUntil, knownDifferences, differences }: UsageReconciliation) {
  return {
    compared_until: timeOrNull(comparedUntil),
    known_differences: knownDifferences,
    differences: differences.map((difference) => ({
      organization_id: difference.organizationId,
      kind: difference.kind,
      starts_at: isoTime(difference.startsAt),
      expected: sumsView(difference.expected),
      found: sumsView(difference.found),
      first_seen_at: isoTime(difference.firstSeenAt),
    })),
  };
}

function sumsView({ generations, costNanoUsd, chargedNanoUsd }: Sums) {
  return {
    generations: Number(generations),
    cost_usd: usd(costNanoUsd),
    charged_usd: usd(chargedNanoUsd),
  };
}
