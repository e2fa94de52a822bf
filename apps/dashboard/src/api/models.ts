import type { Result } from '@gateway/dashboard-contract/client';
import { queryOptions } from '@tanstack/react-query';
import { api } from './client';

export type OfferedModel = Result<'GET /api/models'>['data'][number];

const catalogueQuery = queryOptions({
  queryKey: ['models'],
  queryFn: ({ signal }) => api.call('GET /api/models', { signal }),
  staleTime: 60_000,
});

/** The available models. */
export const modelsQuery = queryOptions({ ...catalogueQuery, select: ({ data }) => data });

/** The public API's URL, with /v1; null when unknown. */
export const publicApiQuery = queryOptions({ ...catalogueQuery, select: ({ base_url: baseUrl }) => baseUrl });

/** The APIs that the deployment serves. */
export const apiTypesQuery = queryOptions({
  ...catalogueQuery,
  select: ({ api_types: apiTypes }) => apiTypes,
});

/** Embedding models have no output. */
export const isEmbeddingModel = ({ max_output_tokens: max }: OfferedModel): boolean => max === 0;

/** Refused requests may name no known model. */
export const modelLabel = (id: string) => (id === '' ? 'Unknown model' : id);
