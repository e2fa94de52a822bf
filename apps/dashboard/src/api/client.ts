import { ApiError, createDashboardClient, type DashboardClient } from '@gateway/dashboard-contract/client';
import { asksToSignInAgain, sessionHasEnded } from './ended-session';

/** The dashboard's API, on this page's own origin: it answers for whoever is signed in, if anybody. */
export const plainApi = createDashboardClient();

type Call = (line: string, given?: { readonly signal?: AbortSignal }) => Promise<unknown>;
const plainCall = plainApi.call as unknown as Call;

/**
 * The same for pages: what they read waits until the person is signed in again.
 * What would change something does not, lest it be done when nobody thinks of it
 * any more: it fails, and nothing was done.
 */
const call: Call = async (line, given) => {
  for (;;) {
    try {
      return await plainCall(line, given);
    } catch (error) {
      if (!(error instanceof ApiError && error.code === 'not_signed_in' && asksToSignInAgain())) throw error;
      const again = sessionHasEnded();
      if (!line.startsWith('GET ')) throw nothingDone(error);
      await Promise.race([again, aborted(given?.signal)]);
    }
  }
};

function nothingDone({ details }: ApiError): ApiError {
  return new ApiError('Your session had ended, so nothing was done. Try again.', details);
}

function aborted(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
}

export const api: DashboardClient = { ...plainApi, call: call as unknown as DashboardClient['call'] };
