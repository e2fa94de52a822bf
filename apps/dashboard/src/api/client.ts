import { ApiError, createDashboardClient, type DashboardClient } from '@gateway/dashboard-contract/client';
import { isUnattended } from './activity';
import { waitForConfirmation } from './confirmation';
import { canSignInAgain, waitForSignIn } from './session-expiry';

/** The dashboard API on this page's origin. */
export const plainApi = createDashboardClient({ isBackground: isUnattended });

type Call = (endpoint: string, options?: { readonly signal?: AbortSignal }) => Promise<unknown>;
const plainCall = plainApi.call as unknown as Call;

/**
 * The client for pages: when the session has expired, reads wait for a new sign-in. Writes fail
 * instead, so that none takes effect long after the click. A sensitive change waits for a confirmation.
 */
const call: Call = async (endpoint, options) => {
  for (;;) {
    try {
      return await plainCall(endpoint, options);
    } catch (error) {
      if (error instanceof ApiError && error.code === 'confirmation_required') {
        if (await waitForConfirmation()) continue;
        throw error;
      }
      if (!(error instanceof ApiError && error.code === 'not_signed_in' && canSignInAgain())) throw error;
      const signedIn = waitForSignIn();
      if (!endpoint.startsWith('GET ')) throw notSaved(error);
      await Promise.race([signedIn, aborted(options?.signal)]);
    }
  }
};

function notSaved({ details }: ApiError): ApiError {
  return new ApiError('Your session had expired, so nothing was saved. Try again.', details);
}

function aborted(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
}

export const api: DashboardClient = { ...plainApi, call: call as unknown as DashboardClient['call'] };
