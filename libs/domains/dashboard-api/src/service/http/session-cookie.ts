import { parseCookie, stringifySetCookie } from 'cookie';
import type { Request, Response } from 'express';
import type { DashboardApiSettings } from '../ports';

const COOKIE_NAME = 'gateway_session';
const MAX_TOKEN_CHARACTERS = 200;

export function sessionTokenOf(request: Request): string | undefined {
  const token = parseCookie(request.headers.cookie ?? '')[COOKIE_NAME];
  return token && token.length <= MAX_TOKEN_CHARACTERS ? token : undefined;
}

/** As the browser calls itself. */
export function deviceOf(request: Request): string {
  return request.get('user-agent') ?? '';
}

/** For the browser alone: not for scripts, not for other sites. */
export function createSessionCookies({ publicOrigin }: Pick<DashboardApiSettings, 'publicOrigin'>) {
  const write = (response: Response, value: string, expires: Date): void => {
    const secure = publicOrigin?.startsWith('https://') ?? false;
    const cookie = { name: COOKIE_NAME, value, httpOnly: true, sameSite: 'strict', path: '/' } as const;
    response.append('set-cookie', stringifySetCookie({ ...cookie, secure, expires }));
  };
  return {
    set: (response: Response, { sessionToken, expiresUnixMs }: OpenedSession): void =>
      write(response, sessionToken, new Date(Number(expiresUnixMs))),
    clear: (response: Response): void => write(response, '', new Date(0)),
  };
}

/** Of one sign-in at the identity provider: several may be under way in one browser. */
const SIGN_ON_COOKIE_PREFIX = 'gateway_sign_on_';
const SIGN_ON_PATH = '/api/oidc';
const STATE_CHARACTERS_IN_NAME = 16;

function signOnCookieOf(state: string): string | undefined {
  const name = state.slice(0, STATE_CHARACTERS_IN_NAME);
  return /^[\w-]{16}$/.test(name) ? SIGN_ON_COOKIE_PREFIX + name : undefined;
}

/** What the browser keeps of the sign-in with this state. */
export function signOnTokenOf(request: Request, state: string): string | undefined {
  const token = parseCookie(request.headers.cookie ?? '')[signOnCookieOf(state) ?? ''];
  return token && token.length <= MAX_TOKEN_CHARACTERS ? token : undefined;
}

/** `SameSite=Lax`, since the browser comes back from another site. */
export function createSignOnCookies({ publicOrigin }: Pick<DashboardApiSettings, 'publicOrigin'>) {
  const secure = publicOrigin?.startsWith('https://') ?? false;
  const write = (response: Response, state: string, value: string, expires: Date): void => {
    const name = signOnCookieOf(state);
    if (name === undefined) return;
    const cookie = { name, value, httpOnly: true, sameSite: 'lax', path: SIGN_ON_PATH } as const;
    response.append('set-cookie', stringifySetCookie({ ...cookie, secure, expires }));
  };
  return {
    set: (response: Response, state: string, token: string, expiresUnixMs: bigint): void =>
      write(response, state, token, new Date(Number(expiresUnixMs))),
    clear: (response: Response, state: string): void => write(response, state, '', new Date(0)),
  };
}

const INVITATION_COOKIE = 'gateway_invitation';
const INVITATION_PATH = '/api/invitations';
/** As long as it takes to sign in, be that with a provider that asks for much. */
const INVITATION_KEPT_MS = 30 * 60_000;

/** Of the invitation that was looked up last. */
export function invitationTokenOf(request: Request): string | undefined {
  const token = parseCookie(request.headers.cookie ?? '')[INVITATION_COOKIE];
  return token && token.length <= MAX_TOKEN_CHARACTERS ? token : undefined;
}

/**
 * Whoever signs in on the way to an invitation leaves the page, and its link's
 * token with it, which no script may keep. So the browser does, for the two
 * requests that need it and for no other.
 */
export function createInvitationCookies({ publicOrigin }: Pick<DashboardApiSettings, 'publicOrigin'>) {
  const secure = publicOrigin?.startsWith('https://') ?? false;
  const write = (response: Response, value: string, maxAge: number): void => {
    const cookie = { httpOnly: true, sameSite: 'strict', path: INVITATION_PATH, secure } as const;
    response.append('set-cookie', stringifySetCookie({ ...cookie, name: INVITATION_COOKIE, value, maxAge }));
  };
  return {
    set: (response: Response, token: string): void => write(response, token, INVITATION_KEPT_MS / 1_000),
    clear: (response: Response): void => write(response, '', 0),
  };
}

/** A session whose token is known this once. */
export interface OpenedSession {
  readonly sessionToken: string;
  readonly expiresUnixMs: bigint;
}
