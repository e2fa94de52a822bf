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

/** A session whose token is known this once. */
export interface OpenedSession {
  readonly sessionToken: string;
  readonly expiresUnixMs: bigint;
}
