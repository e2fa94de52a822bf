import type { CallOptions, Result } from '@gateway/dashboard-contract/client';
import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query';
import { api } from './client';
import { RECOVERY_INTERVAL_MS } from './transient-error';

export type UsageSeries = Result<'GET /api/organizations/{organization_id}/usage'>;
export type UsagePoint = UsageSeries['data'][number];
export type UsageMetrics = UsageSeries['totals'];
export type UsageQuery = CallOptions<'GET /api/organizations/{organization_id}/usage'>['query'];

const REFETCH_INTERVAL_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Longer ranges are shown by day. */
const MAX_DAYS_BY_HOUR = 3;

/** The server's limit of a series by day. */
export const MAX_DAYS = 366;

export interface RangeChoice {
  readonly range?: '24h' | '7d' | '30d' | '90d' | 'custom';
  /** The inclusive days of a custom range, such as "2026-11-20". */
  readonly from?: string;
  readonly to?: string;
}

const DAYS = { '24h': 1, '7d': 7, '30d': 30, '90d': 90 } as const;
export const DEFAULT_RANGE = '30d';

/**
 * Resolves a range choice at a point in time. Bounds are full hours or days, so that repeated queries
 * share a cache entry.
 */
export function rangeOf({ range = DEFAULT_RANGE, from, to }: RangeChoice, now = Date.now()) {
  // An open end is today.
  const last = to ?? new Date(now).toISOString().slice(0, 10);
  if (range === 'custom' && isDay(from) && isDay(last) && from <= last) {
    const end = Date.parse(last) + DAY_MS;
    const start = Math.max(Date.parse(from), end - MAX_DAYS * DAY_MS);
    return rangeBetween(start, end, (end - start) / DAY_MS <= MAX_DAYS_BY_HOUR ? 'hour' : 'day');
  }
  const days = DAYS[range === 'custom' ? DEFAULT_RANGE : range];
  if (days === 1) {
    const end = Math.ceil(now / HOUR_MS) * HOUR_MS;
    return rangeBetween(end - DAY_MS, end, 'hour');
  }
  const end = Math.ceil(now / DAY_MS) * DAY_MS;
  return rangeBetween(end - days * DAY_MS, end, 'day');
}

function rangeBetween(start: number, end: number, granularity: 'hour' | 'day') {
  return { start: new Date(start).toISOString(), end: new Date(end).toISOString(), granularity } as const;
}

function isDay(text: string | undefined): text is string {
  return text !== undefined && /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text));
}

export const usageQuery = (organizationId: string, query: UsageQuery) =>
  queryOptions({
    queryKey: ['usage', organizationId, query],
    queryFn: ({ signal }) =>
      api.call('GET /api/organizations/{organization_id}/usage', {
        params: { organization_id: organizationId },
        query,
        signal,
      }),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => (state.status === 'error' ? RECOVERY_INTERVAL_MS : REFETCH_INTERVAL_MS),
  });

export type UsageGroup = Result<'GET /api/organizations/{organization_id}/usage/groups'>['data'][number];
export type GroupsQuery = Omit<
  CallOptions<'GET /api/organizations/{organization_id}/usage/groups'>['query'],
  'page_size' | 'page_token'
>;

export const usageGroupsQuery = (organizationId: string, query: GroupsQuery) =>
  infiniteQueryOptions({
    queryKey: ['usage-groups', organizationId, query],
    queryFn: ({ pageParam, signal }) =>
      api.call('GET /api/organizations/{organization_id}/usage/groups', {
        params: { organization_id: organizationId },
        query: { ...query, page_size: '100', page_token: pageParam },
        signal,
      }),
    initialPageParam: '',
    getNextPageParam: (last) => last.next_page_token,
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => (state.status === 'error' ? RECOVERY_INTERVAL_MS : REFETCH_INTERVAL_MS),
  });

export type ErrorCount = Result<'GET /api/organizations/{organization_id}/usage/errors'>['data'][number];

export const usageErrorsQuery = (
  organizationId: string,
  query: CallOptions<'GET /api/organizations/{organization_id}/usage/errors'>['query'],
) =>
  queryOptions({
    queryKey: ['usage-errors', organizationId, query],
    queryFn: async ({ signal }) =>
      (
        await api.call('GET /api/organizations/{organization_id}/usage/errors', {
          params: { organization_id: organizationId },
          query,
          signal,
        })
      ).data,
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => (state.status === 'error' ? RECOVERY_INTERVAL_MS : REFETCH_INTERVAL_MS),
  });

export const usageSummaryQuery = (organizationId: string) =>
  queryOptions({
    queryKey: ['usage-summary', organizationId],
    queryFn: ({ signal }) =>
      api.call('GET /api/organizations/{organization_id}/usage/summary', {
        params: { organization_id: organizationId },
        signal,
      }),
    refetchInterval: ({ state }) => (state.status === 'error' ? RECOVERY_INTERVAL_MS : REFETCH_INTERVAL_MS),
  });
