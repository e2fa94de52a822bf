import type { Result } from '@gateway/dashboard-contract/client';
import { queryOptions } from '@tanstack/react-query';
import { api } from './client';

export type OperatorNotifications = Result<'GET /api/operator/notifications'>;

/** The navigation polls it, too. */
const REFETCH_INTERVAL_MS = 60_000;

export const operatorNotificationsQuery = queryOptions({
  queryKey: ['operator-notifications'],
  queryFn: ({ signal }) => api.call('GET /api/operator/notifications', { signal }),
  refetchInterval: REFETCH_INTERVAL_MS,
});
