import { queryOptions } from '@tanstack/react-query';
import { api } from './client';

/** The configured sign-in methods, which change only when the server restarts. */
export const signInOptionsQuery = queryOptions({
  queryKey: ['sign-in-options'],
  queryFn: ({ signal }) => api.call('GET /api/sign-in-options', { signal }),
  staleTime: Infinity,
});
