import { ApiError } from '@gateway/dashboard-contract/client';
import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { isTransient, RECOVERY_INTERVAL_MS } from './transient-error';

/** Older data is shown immediately and reloaded in the background. */
const STALE_MS = 10_000;

/** @param onSignedOut called when a request finds no session. */
export function createQueryClient(onSignedOut: () => void): QueryClient {
  const onError = (error: unknown) => {
    if (error instanceof ApiError && error.code === 'not_signed_in') onSignedOut();
  };
  return new QueryClient({
    queryCache: new QueryCache({ onError }),
    mutationCache: new MutationCache({ onError }),
    defaultOptions: {
      // Fail immediately instead of pausing until the browser is online.
      mutations: { networkMode: 'always' },
      queries: {
        networkMode: 'always',
        staleTime: STALE_MS,
        // Only transient errors are worth a retry.
        retry: (failures, error) => failures < 1 && isTransient(error),
        retryDelay: 400,
        refetchInterval: ({ state: { status, error } }) =>
          status === 'error' && isTransient(error) ? RECOVERY_INTERVAL_MS : false,
      },
    },
  });
}
