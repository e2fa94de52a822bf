import type { Result } from '@gateway/dashboard-contract/client';
import { queryOptions } from '@tanstack/react-query';
import { api } from './client';

export type ContentLog = Result<'GET /api/organizations/{organization_id}/content-log'>['content_log'];

export const contentLogQuery = (organizationId: string) =>
  queryOptions({
    queryKey: ['content-log', organizationId],
    queryFn: async ({ signal }) =>
      (
        await api.call('GET /api/organizations/{organization_id}/content-log', {
          params: { organization_id: organizationId },
          signal,
        })
      ).content_log,
  });
