import type { CallOptions, Result } from '@gateway/dashboard-contract/client';
import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query';
import { api } from './client';

export type GenerationSummary =
  Result<'GET /api/organizations/{organization_id}/generations'>['data'][number];
export type GenerationDetail =
  Result<'GET /api/organizations/{organization_id}/generations/{generation_id}'>['generation'];
export type RefusedRequest =
  Result<'GET /api/organizations/{organization_id}/refused-requests'>['data'][number];
export type RefusedFilters = NonNullable<
  CallOptions<'GET /api/organizations/{organization_id}/refused-requests'>['query']
>;
export type GenerationFilters = Omit<
  NonNullable<CallOptions<'GET /api/organizations/{organization_id}/generations'>['query']>,
  'page_size' | 'page_token'
>;

export const latestGenerationsQuery = (organizationId: string) =>
  queryOptions({
    queryKey: ['latest-generations', organizationId],
    queryFn: ({ signal }) =>
      api.call('GET /api/organizations/{organization_id}/generations', {
        params: { organization_id: organizationId },
        query: { page_size: '8' },
        signal,
      }),
  });

export const generationsQuery = (organizationId: string, filters: GenerationFilters) =>
  infiniteQueryOptions({
    queryKey: ['generations', organizationId, filters],
    queryFn: ({ pageParam, signal }) =>
      api.call('GET /api/organizations/{organization_id}/generations', {
        params: { organization_id: organizationId },
        query: { ...filters, page_token: pageParam },
        signal,
      }),
    initialPageParam: '',
    getNextPageParam: (last) => last.next_page_token,
    placeholderData: keepPreviousData,
  });

export const refusedRequestsQuery = (organizationId: string, filters: RefusedFilters) =>
  queryOptions({
    queryKey: ['refused-requests', organizationId, filters],
    queryFn: async ({ signal }) =>
      (
        await api.call('GET /api/organizations/{organization_id}/refused-requests', {
          params: { organization_id: organizationId },
          query: filters,
          signal,
        })
      ).data,
    placeholderData: keepPreviousData,
  });

export const generationQuery = (organizationId: string, generationId: string) =>
  queryOptions({
    queryKey: ['generation', organizationId, generationId],
    queryFn: async ({ signal }) =>
      (
        await api.call('GET /api/organizations/{organization_id}/generations/{generation_id}', {
          params: { organization_id: organizationId, generation_id: generationId },
          signal,
        })
      ).generation,
    staleTime: 60_000,
  });
