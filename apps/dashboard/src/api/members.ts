import { queryOptions } from '@tanstack/react-query';
import { api } from './client';

const MAX_FOUND = '10';

/** The first members whose email, name or id matches. */
export const foundMembersQuery = (organizationId: string, search: string) =>
  queryOptions({
    queryKey: ['members', organizationId, 'found', search],
    queryFn: async ({ signal }) =>
      (
        await api.call('GET /api/organizations/{organization_id}/members', {
          params: { organization_id: organizationId },
          query: { search, page_size: MAX_FOUND },
          signal,
        })
      ).data,
  });
