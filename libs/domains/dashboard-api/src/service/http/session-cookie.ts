import { parseCookie, stringifySetCookie } from 'cookie';
import type { Request, Response } from 'express';
import { isHttps, type HttpsSettings } from './dashboard-url';

const COOKIE_NAME = 'gateway_session';
const MAX_TOKEN_CHARACTERS = 200;

/**
 * Over HTTPS the name has the prefix `__Host-`: browsers then refuse the cookie from subdomains and without `Secure`.
 * Over HTTP browsers refuse the prefix itself.
 */
function cookieNameOf(settings: HttpsSettings): string {
  return isHttps(settings) ? `__Host-${COOKIE_NAME}` : COOKIE_NAME;
}

export function sessionTokenOf(request: Request, settings: HttpsSettings): string | undefined {
  const token = parseCookie(request.headers.cookie ?? '')[cookieNameOf(settings)];
  return token && token.length <= MAX_TOKEN_CHARACTERS ? token : undefined;
}

/** HttpOnly and `SameSite=Strict`: not readable by scripts, and not sent from other sites. */
export function createSessionCookies(settings: HttpsSettings) {
  const write = (response: Response, value: string, expires: Date): void => {
    const secure = isHttps(settings);
    const name = cookieNameOf(settings);
    const cookie = { name, value, httpOnly: true, sameSite: 'strict', path: '/' } as const;
    response.append('set-cookie', stringifySetCookie({ ...cookie, secure, expires }));
  };
  return {
    set: (response: Response, opened: { session_token: string; expires_at: string }): void =>
      write(response, opened.session_token, new Date(opened.expires_at)),
    clear: (response: Response): void => write(response, '', new Date(0)),
  };
}

/** One cookie per sign-in at the identity provider: a browser may have several in progress. */
const SIGN_ON_COOKIE_PREFIX = 'gateway_sign_on_';
const SIGN_ON_PATH = '/api/oidc';
const STATE_CHARACTERS_IN_NAME = 16;

function signOnCookieOf(state: string): string | undefined {
  const name = state.slice(0, STATE_CHARACTERS_IN_NAME);
  return /^[\w-]{16}$/.test(name) ? SIGN_ON_COOKIE_PREFIX + name : undefined;
}

/** The browser's token for the sign-in with this state. */
export function signOnTokenOf(request: Request, state: string): string | undefined {
  const token = parseCookie(request.headers.cookie ?? '')[signOnCookieOf(state) ?? ''];
  return token && token.length <= MAX_TOKEN_CHARACTERS ? token : undefined;
}

/** `SameSite=Lax`, since the identity provider redirects back from another site. */
export function createSignOnCookies(settings: HttpsSettings) {
  const secure = isHttps(settings);
  const write = (response: Response, state: string, value: string, expires: Date): void => {
    const name = signOnCookieOf(state);
    if (name === undefined) return;
    const cookie = { name, value, httpOnly: true, sameSite: 'lax', path: SIGN_ON_PATH } as const;
    response.append('set-cookie', stringifySetCookie({ ...cookie, secure, expires }));
  };
  return {
    set: (response: Response, started: { state: string; browser_token: string; expires_at: string }): void =>
      write(response, started.state, started.browser_token, new Date(started.expires_at)),
    clear: (response: Response, state: string): void => write(response, state, '', new Date(0)),
  };
}

const INVITATION_COOKIE = 'gateway_invitation';
const INVITATION_PATH = '/api/invitations';
/** Long enough to sign in at an identity provider on the way. */
const INVITATION_COOKIE_MAX_AGE_MS = 30 * 60_000;

/** The token of the last invitation that was looked up. */
export function invitationTokenOf(request: Request): string | undefined {
  const token = parseCookie(request.headers.cookie ?? '')[INVITATION_COOKIE];
  return token && token.length <= MAX_TOKEN_CHARACTERS ? token : undefined;
}

/**
 * Stores an invitation's token while the person leaves the page to sign in. The cookie is HttpOnly and
 * scoped to the two endpoints that need it.
 */
export function createInvitationCookies(settings: HttpsSettings) {
  const secure = isHttps(settings);
  const write = (response: Response, value: string, maxAge: number): void => {
    const cookie = { httpOnly: true, sameSite: 'strict', path: INVITATION_PATH, secure } as const;
    response.append('set-cookie', stringifySetCookie({ ...cookie, name: INVITATION_COOKIE, value, maxAge }));
  };
  return {
    set: (response: Response, token: string): void =>
      write(response, token, INVITATION_COOKIE_MAX_AGE_MS / 1_000),
    clear: (response: Response): void => write(response, '', 0),
  };
}
