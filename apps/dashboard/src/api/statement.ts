import type { Result } from '@gateway/dashboard-contract/client';
import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query';
import { api } from './client';

export type StatementDay = Result<'GET /api/organizations/{organization_id}/statement/days'>['data'][number];
export type StatementLine = Result<'GET /api/organizations/{organization_id}/statement'>['data'][number];
export type StatementCredit =
  Result<'GET /api/organizations/{organization_id}/statement/credits'>['data'][number];

export const statementMonthsQuery = (organizationId: string) =>
  queryOptions({
    queryKey: ['statement-months', organizationId],
    queryFn: ({ signal }) =>
      api.call('GET /api/organizations/{organization_id}/statement/months', {
        params: { organization_id: organizationId },
        signal,
      }),
  });

/** The sums of a month and of its days. */
export const statementDaysQuery = (organizationId: string, month: string) =>
  queryOptions({
    queryKey: ['statement', organizationId, 'days', month],
    queryFn: ({ signal }) =>
      api.call('GET /api/organizations/{organization_id}/statement/days', {
        params: { organization_id: organizationId },
        query: { month },
        signal,
      }),
    placeholderData: keepPreviousData,
  });

/** The lines of a month, or of one of its days. */
export const statementLinesQuery = (organizationId: string, month: string, day: string | undefined) =>
  infiniteQueryOptions({
    queryKey: ['statement', organizationId, 'lines', month, day],
    queryFn: ({ pageParam, signal }) =>
      api.call('GET /api/organizations/{organization_id}/statement', {
        params: { organization_id: organizationId },
        query: { month, page_token: pageParam, ...(day === undefined ? {} : { day }) },
        signal,
      }),
    initialPageParam: '',
    getNextPageParam: (last) => last.next_page_token,
    placeholderData: keepPreviousData,
  });

export const statementCreditsQuery = (organizationId: string, month: string) =>
  infiniteQueryOptions({
    queryKey: ['statement', organizationId, 'credits', month],
    queryFn: ({ pageParam, signal }) =>
      api.call('GET /api/organizations/{organization_id}/statement/credits', {
        params: { organization_id: organizationId },
        query: { month, page_token: pageParam },
        signal,
      }),
    initialPageParam: '',
    getNextPageParam: (last) => last.next_page_token,
    placeholderData: keepPreviousData,
  });
