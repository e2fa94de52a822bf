import { ApiError } from '@gateway/dashboard-contract/client';
import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { isPassing } from './failure';

/** What was read this long ago is shown at once and asked for again behind the scenes. */
const STALE_MS = 10_000;

/** @param onSignedOut nobody is signed in, or not any more. */
export function createQueryClient(onSignedOut: () => void): QueryClient {
  const onError = (error: unknown) => {
    if (error instanceof ApiError && error.code === 'not_signed_in') onSignedOut();
  };
  return new QueryClient({
    queryCache: new QueryCache({ onError }),
    mutationCache: new MutationCache({ onError }),
    defaultOptions: {
      // What cannot be reached is said at once, not put off until the browser thinks that there is a network.
      mutations: { networkMode: 'always' },
      queries: {
        networkMode: 'always',
        staleTime: STALE_MS,
        // A refusal stays one; a lost connection may be found again.
        retry: (failures, error) => failures < 1 && isPassing(error),
        retryDelay: 400,
      },
    },
  });
}
