import type { Result } from '@gateway/dashboard-contract/client';
import { queryOptions } from '@tanstack/react-query';
import { api } from './client';

export type OfferedModel = Result<'GET /api/models'>['data'][number];

export const modelsQuery = queryOptions({
  queryKey: ['models'],
  queryFn: async ({ signal }) => (await api.call('GET /api/models', { signal })).data,
  staleTime: 60_000,
});
