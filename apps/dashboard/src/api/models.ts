import type { Result } from '@gateway/dashboard-contract/client';
import { queryOptions } from '@tanstack/react-query';
import { api } from './client';

export type OfferedModel = Result<'GET /api/models'>['data'][number];

const catalogueQuery = queryOptions({
  queryKey: ['models'],
  queryFn: ({ signal }) => api.call('GET /api/models', { signal }),
  staleTime: 60_000,
});

/** The models that can be called. */
export const modelsQuery = queryOptions({ ...catalogueQuery, select: ({ data }) => data });

/** Where the public API is, with /v1, for examples; null when nobody said. */
export const publicApiQuery = queryOptions({ ...catalogueQuery, select: ({ base_url: baseUrl }) => baseUrl });
