import { queryOptions } from '@tanstack/react-query';
import { api } from './client';

/** What is configured for signing in; it changes with a restart of the server only. */
export const signInOptionsQuery = queryOptions({
  queryKey: ['sign-in-options'],
  queryFn: ({ signal }) => api.call('GET /api/sign-in-options', { signal }),
  staleTime: Infinity,
});
