import { queryOptions } from '@tanstack/react-query';
import { api } from './client';
import { RECOVERY_INTERVAL_MS } from './transient-error';

const LIVE_MS = 1_000;

/** The live figures, polled every second while a page shows them. */
export const liveQuery = (organizationId: string) =>
  queryOptions({
    queryKey: ['live', organizationId],
    queryFn: ({ signal }) =>
      api.call('GET /api/organizations/{organization_id}/live', {
        params: { organization_id: organizationId },
        signal,
      }),
    refetchInterval: ({ state }) => (state.status === 'error' ? RECOVERY_INTERVAL_MS : LIVE_MS),
    staleTime: 0,
  });
