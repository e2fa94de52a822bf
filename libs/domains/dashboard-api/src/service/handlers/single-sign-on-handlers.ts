import { endpoints, parts, type SignInErrorCode } from '@gateway/dashboard-contract';
import type { Response } from 'express';
import { implement, type Implementation } from '../http/implement';
import {
  createSessionCookies,
  createSignOnCookies,
  sessionTokenOf,
  signOnTokenOf,
} from '../http/session-cookie';
import { toDashboardError } from '../messages/errors';
import type { DashboardApiPorts } from '../ports';

/** Browsers navigate to both endpoints, so errors redirect to the sign-in page, which shows them. */
export function createSingleSignOnHandlers({
  owners,
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
    implement(session.startOidc, ({ query, client, request, response }) =>
      orToSignInPage(response, async () => {
        const body = { ...query, session_token: sessionTokenOf(request, settings) };
        const started = await owners.auth.call(parts.startOidc, { body, client });
        if (started.kind === 'refused')
          return toSignInPage(response, started.error, { detail: started.detail });
        signOnCookies.set(response, started);
        response.redirect(303, started.authorization_url);
        return undefined;
      }),
    ),

    implement(session.finishOidc, ({ client, request, response }) =>
      orToSignInPage(response, async () => {
        const callbackQuery = queryOf(request.originalUrl);
        const state = new URLSearchParams(callbackQuery).get('state') ?? '';
        const browserToken = signOnTokenOf(request, state) ?? '';
        signOnCookies.clear(response, state);
        const body = { callback_query: callbackQuery, browser_token: browserToken };
        const finished = await owners.auth.call(parts.finishOidc, { body, client });
        if (finished.kind === 'refused')
          return toSignInPage(response, finished.error, { detail: finished.detail });
        cookies.set(response, finished);
        response.redirect(303, finished.return_to);
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
