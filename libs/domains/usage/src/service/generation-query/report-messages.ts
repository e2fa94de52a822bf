import { HOUR_MS, nanoUsd, type NanoUsd, type UnixMs } from '@gateway/base';
import {
  GenerationStatus as StatusMessage,
  UsageDimension,
  UsageGranularity as GranularityMessage,
  type GenerationRecord,
  type GetErrorCountsRequest,
  type GetUsageReconciliationResponse,
  type GetUsageSeriesRequest,
  type GetUsageSummaryResponse,
  type KeyActivity as KeyActivityMessage,
  type Latency,
  type ListGenerationsRequest,
  type OrganizationUsage as OrganizationUsageMessage,
  type ListRefusedRequestsRequest,
  type RefusedRequest as RefusedMessage,
  type UsageMetrics as MetricsMessage,
  type UsagePoint as PointMessage,
} from '@gateway/contracts/generation-query';
import { GatewayError } from '@gateway/errors';
import type { OrganizationUsage, UsageSummary } from '../../core/usage-summary';
import { meanMs, quantileMs, type Latencies } from '../../core/latency-histogram';
import type { GenerationsRequest } from '../../core/list-generations';
import type { KeyActivity, UsageReconciliation } from '../../core/ports';
import type { ErrorCountsQuery, RefusedFilter, RefusedRequest } from '../../core/refusals';
import { statusOf, type GenerationStatus, type SettledGeneration } from '../../core/settled-generation';
import type { SeriesDimension, SeriesQuery, UsageMetrics, UsagePoint } from '../../core/usage-series';
import { fromGeneration } from './messages';

const STATUSES: Readonly<Record<GenerationStatus, StatusMessage>> = {
  completed: StatusMessage.GENERATION_STATUS_COMPLETED,
  cancelled: StatusMessage.GENERATION_STATUS_CANCELLED,
  failed: StatusMessage.GENERATION_STATUS_FAILED,
};

/** 9999-12-31T23:59:59.999Z */
const LAST_UNIX_MS = 253_402_300_799_999n;

export function fromRecord(generation: SettledGeneration): GenerationRecord {
  return {
    generation: fromGeneration(generation),
    status: STATUSES[statusOf(generation)],
    providerModel: generation.providerModel,
    settledUnixMs: BigInt(generation.settledAt),
    timeToFirstTokenMs: generation.timeToFirstTokenMs,
    attempts: (generation.attempts ?? []).map((attempt) => ({ ...attempt })),
    prices: generation.prices,
  };
}

export function toListRequest(message: ListGenerationsRequest): GenerationsRequest {
  return {
    organizationId: message.organizationId,
    search: storable(message.search),
    since: optionalTime('since', message.sinceUnixMs),
    until: optionalTime('until', message.untilUnixMs),
    modelId: storable(message.modelId),
    keyId: storable(message.keyId),
    externalUser: storable(message.externalUser),
    status: Object.entries(STATUSES).find(([, status]) => status === message.status)?.[0] as
      GenerationStatus | undefined,
    minCostNanoUsd: optionalAmount(message.minCostNanoUsd),
    maxCostNanoUsd: optionalAmount(message.maxCostNanoUsd),
    pageSize: message.pageSize,
    pageToken: message.pageToken,
  };
}

export function toSeriesQuery(message: GetUsageSeriesRequest): SeriesQuery {
  return {
    organizationId: message.organizationId,
    start: timeOf('start', message.startUnixMs),
    end: timeOf('end', message.endUnixMs),
    granularity: message.granularity === GranularityMessage.USAGE_GRANULARITY_HOUR ? 'hour' : 'day',
    splitBy: new Set(message.splitBy.map(toSeriesDimension)),
    modelId: storable(message.modelId),
    keyId: storable(message.keyId),
    projectId: storable(message.projectId),
  };
}

function toSeriesDimension(dimension: UsageDimension): SeriesDimension {
  if (dimension === UsageDimension.USAGE_DIMENSION_MODEL) return 'model';
  if (dimension === UsageDimension.USAGE_DIMENSION_API_KEY) return 'api_key';
  if (dimension === UsageDimension.USAGE_DIMENSION_PROJECT) return 'project';
  throw new GatewayError('invalid_request', {
    param: 'split_by',
    message: 'split_by takes model, key and project.',
  });
}

export function fromPoint({ start, modelId, keyId, projectId, ...metrics }: UsagePoint): PointMessage {
  return { startUnixMs: BigInt(start), modelId, keyId, projectId, metrics: fromMetrics(metrics) };
}

export function fromMetrics({ duration, firstToken, ...sums }: UsageMetrics): MetricsMessage {
  return { ...sums, duration: fromLatencies(duration), timeToFirstToken: fromLatencies(firstToken) };
}

function fromLatencies(latencies: Latencies): Latency | undefined {
  const mean = meanMs(latencies);
  if (mean === undefined) return undefined;
  return { meanMs: mean, p50Ms: quantileMs(latencies, 0.5) ?? 0, p95Ms: quantileMs(latencies, 0.95) ?? 0 };
}

/** Removes NUL, which PostgreSQL text cannot contain. */
function storable(text: string | undefined): string | undefined {
  return text?.replaceAll('\0', '');
}

function optionalTime(param: string, unixMs: bigint | undefined): UnixMs | undefined {
  return unixMs === undefined ? undefined : timeOf(param, unixMs);
}

export function timeOf(param: string, unixMs: bigint): UnixMs {
  if (unixMs < 0n || unixMs > LAST_UNIX_MS) {
    throw new GatewayError('invalid_request', {
      param,
      message: `${param} must be a time from 1970 to 9999.`,
    });
  }
  return Number(unixMs) as UnixMs;
}

function optionalAmount(amount: bigint | undefined): NanoUsd | undefined {
  return amount === undefined ? undefined : nanoUsd(amount);
}

const MAX_REFUSED_PER_LIST = 200;

export function toRefusedRequest(message: ListRefusedRequestsRequest) {
  const filter: RefusedFilter = {
    organizationId: message.organizationId,
    requestId: storable(message.requestId),
    keyId: storable(message.keyId),
    model: storable(message.model),
  };
  return { filter, limit: Math.min(Math.max(message.limit, 1), MAX_REFUSED_PER_LIST) };
}

export function fromRefused({ refusedAt, ...request }: RefusedRequest): RefusedMessage {
  return { ...request, refusedUnixMs: BigInt(refusedAt) };
}

export function toErrorCountsQuery(message: GetErrorCountsRequest): ErrorCountsQuery {
  return {
    organizationId: message.organizationId,
    start: (Math.floor(timeOf('start', message.startUnixMs) / HOUR_MS) * HOUR_MS) as UnixMs,
    end: (Math.ceil(timeOf('end', message.endUnixMs) / HOUR_MS) * HOUR_MS) as UnixMs,
    modelId: storable(message.modelId),
    keyId: storable(message.keyId),
    projectId: storable(message.projectId),
  };
}

export function fromReconciliation(found: UsageReconciliation): GetUsageReconciliationResponse {
  const { comparedUntil, knownDifferences, differences } = found;
  return {
    comparedUntilUnixMs: comparedUntil === undefined ? undefined : BigInt(comparedUntil),
    knownDifferences,
    differences: differences.map(({ organizationId, kind, startsUnixMs, firstSeenUnixMs, ...sums }) => ({
      ...{ organizationId, kind, ...sums },
      startsUnixMs: BigInt(startsUnixMs),
      firstSeenUnixMs: BigInt(firstSeenUnixMs),
    })),
  };
}

export function fromSummary(summary: UsageSummary): GetUsageSummaryResponse {
  return { ...summary, topKeys: [...summary.topKeys] };
}

export function fromOrganizationUsage(usage: OrganizationUsage): OrganizationUsageMessage {
  const { organizationId, totals, margin, lastUsedAt } = usage;
  return {
    organizationId,
    totals,
    margin,
    lastUsedUnixMs: lastUsedAt === undefined ? undefined : BigInt(lastUsedAt),
  };
}

export function fromKeyActivity(activity: KeyActivity): KeyActivityMessage {
  return {
    keyId: activity.keyId,
    lastUsedUnixMs: activity.lastUsedAt === undefined ? undefined : BigInt(activity.lastUsedAt),
    chargedTodayNanoUsd: activity.chargedTodayNanoUsd,
    chargedThisMonthNanoUsd: activity.chargedThisMonthNanoUsd,
  };
}
