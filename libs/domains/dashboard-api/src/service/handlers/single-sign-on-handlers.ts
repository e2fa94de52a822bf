import { OidcRefusalReason, type OidcRefused } from '@gateway/contracts/auth';
import { DashboardError, endpoints, type SignInErrorCode } from '@gateway/dashboard-contract';
import type { Response } from 'express';
import { dashboardUrlOf } from '../http/dashboard-url';
import { implement, type Implementation } from '../http/implement';
import {
  createSessionCookies,
  createSignOnCookies,
  deviceOf,
  sessionTokenOf,
  signOnTokenOf,
} from '../http/session-cookie';
import { toDashboardError } from '../messages/errors';
import type { DashboardApiPorts } from '../ports';

/** Longer than the total of auth's timeouts for requests to the identity provider. */
const PROVIDER_TIMEOUT_MS = 20_000;

const CODE_OF_REASON: Readonly<
  Record<Exclude<OidcRefusalReason, OidcRefusalReason.OIDC_REFUSAL_REASON_NOT_CONFIGURED>, SignInErrorCode>
> = {
  [OidcRefusalReason.OIDC_REFUSAL_REASON_UNSPECIFIED]: 'oidc_failed',
  [OidcRefusalReason.OIDC_REFUSAL_REASON_TOO_MANY_ATTEMPTS]: 'too_many_attempts',
  [OidcRefusalReason.OIDC_REFUSAL_REASON_UNAVAILABLE]: 'oidc_unavailable',
  [OidcRefusalReason.OIDC_REFUSAL_REASON_STATE_INVALID]: 'oidc_state_invalid',
  [OidcRefusalReason.OIDC_REFUSAL_REASON_DENIED]: 'oidc_denied',
  [OidcRefusalReason.OIDC_REFUSAL_REASON_FAILED]: 'oidc_failed',
  [OidcRefusalReason.OIDC_REFUSAL_REASON_EMAIL_NOT_VERIFIED]: 'oidc_email_not_verified',
  [OidcRefusalReason.OIDC_REFUSAL_REASON_DOMAIN_NOT_MAPPED]: 'oidc_no_organization',
  [OidcRefusalReason.OIDC_REFUSAL_REASON_IDENTITY_MISMATCH]: 'oidc_identity_mismatch',
  [OidcRefusalReason.OIDC_REFUSAL_REASON_ACCOUNT_DISABLED]: 'account_disabled',
};

/** Browsers navigate to both endpoints, so errors redirect to the sign-in page, which shows them. */
export function createSingleSignOnHandlers({
  authAdmin,
  settings,
  log,
}: DashboardApiPorts): readonly Implementation[] {
  const { session } = endpoints;
  const cookies = createSessionCookies(settings);
  const signOnCookies = createSignOnCookies(settings);

  function toSignInPage(response: Response, error: SignInErrorCode, why: object): undefined {
    const requestId = String(response.getHeader('x-request-id'));
    log.warn({ ...why, requestId, error }, 'single sign-on failed');
    response.redirect(303, `/sign-in?${new URLSearchParams({ error, request_id: requestId })}`);
    return undefined;
  }

  function refused(response: Response, refusal: OidcRefused | undefined): undefined {
    const reason = refusal?.reason ?? OidcRefusalReason.OIDC_REFUSAL_REASON_UNSPECIFIED;
    if (reason === OidcRefusalReason.OIDC_REFUSAL_REASON_NOT_CONFIGURED)
      throw new DashboardError('not_found', { message: 'Single sign-on is not configured.' });
    return toSignInPage(response, CODE_OF_REASON[reason], { detail: refusal?.detail });
  }

  /** Redirects server errors to the sign-in page too. */
  async function orToSignInPage(response: Response, work: () => Promise<undefined>): Promise<undefined> {
    try {
      return await work();
    } catch (thrown) {
      const { row, cause } = toDashboardError(thrown);
      if (row.httpStatus < 500) throw thrown;
      return toSignInPage(response, row.httpStatus === 503 ? 'oidc_unavailable' : 'oidc_failed', {
        err: cause ?? thrown,
      });
    }
  }

  return [
    implement(session.startOidc, ({ query, address, request, response }) =>
      orToSignInPage(response, async () => {
        const { outcome } = await authAdmin.startOidc(
          {
            dashboardUrl: dashboardUrlOf(settings, request),
            returnTo: query.return_to,
            ipAddress: address,
            sessionToken: sessionTokenOf(request, settings),
          },
          { timeoutMs: PROVIDER_TIMEOUT_MS },
        );
        if (outcome?.$case !== 'started') return refused(response, outcome?.value);
        const { authorizationUrl, state, browserToken, expiresUnixMs } = outcome.value;
        signOnCookies.set(response, state, browserToken, expiresUnixMs);
        response.redirect(303, authorizationUrl);
        return undefined;
      }),
    ),

    implement(session.finishOidc, ({ address, request, response }) =>
      orToSignInPage(response, async () => {
        const callbackQuery = queryOf(request.originalUrl);
        const state = new URLSearchParams(callbackQuery).get('state') ?? '';
        const browserToken = signOnTokenOf(request, state) ?? '';
        signOnCookies.clear(response, state);
        const { outcome } = await authAdmin.finishOidc(
          { callbackQuery, browserToken, ipAddress: address, device: deviceOf(request) },
          { timeoutMs: PROVIDER_TIMEOUT_MS },
        );
        if (outcome?.$case !== 'signedIn') return refused(response, outcome?.value);
        const { signedIn, returnTo } = outcome.value;
        if (!signedIn) throw new Error('the response has no session');
        cookies.set(response, signedIn);
        response.redirect(303, returnTo);
        return undefined;
      }),
    ),
  ];
}

/** The raw query string: auth parses the parameters of the protocol. */
function queryOf(url: string): string {
  const start = url.indexOf('?');
  return start === -1 ? '' : url.slice(start + 1);
}
