import type { Result } from '@gateway/dashboard-contract/client';
import { queryOptions } from '@tanstack/react-query';
import { api } from '../../../api/client';

export type CatalogueState = Result<'GET /api/operator/catalogue/state'>;
export type CatalogueRouter = CatalogueState['routers'][number];
export type ProviderSecret = CatalogueState['secrets'][number];
export type CheckedText = Result<'POST /api/operator/catalogue/check'>;
export type CatalogueIssue = CheckedText['issues'][number];
export type CatalogueChange = CheckedText['changes'][number];

const REFETCH_INTERVAL_MS = 5_000;

export const catalogueState = queryOptions({
  queryKey: ['catalogue-state'],
  queryFn: ({ signal }) => api.call('GET /api/operator/catalogue/state', { signal }),
  refetchInterval: REFETCH_INTERVAL_MS,
});

/** Everything that a change of the catalogue affects. */
export const CHANGED_QUERIES = [
  ['catalogue-state'],
  ['catalogue-versions'],
  ['catalogue'],
  ['provider-health'],
  ['models'],
] as const;
