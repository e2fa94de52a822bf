import type { Result } from '@gateway/dashboard-contract/client';
import { queryOptions } from '@tanstack/react-query';
import { api } from './client';

export type Organization = Result<'GET /api/organizations/{organization_id}'>['organization'];

/** The switcher's limit; the operator's list shows all organizations. */
const MAX_IN_SWITCHER = 200;

export const organizationsQuery = queryOptions({
  queryKey: ['organizations'],
  queryFn: async ({ signal }) =>
    (await api.call('GET /api/organizations', { query: { page_size: String(MAX_IN_SWITCHER) }, signal }))
      .data,
  staleTime: 30_000,
});

export const organizationQuery = (organizationId: string) =>
  queryOptions({
    queryKey: ['organization', organizationId],
    queryFn: async ({ signal }) =>
      (
        await api.call('GET /api/organizations/{organization_id}', {
          params: { organization_id: organizationId },
          signal,
        })
      ).organization,
  });
