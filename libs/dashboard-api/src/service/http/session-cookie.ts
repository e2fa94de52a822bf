import { parseCookie, stringifySetCookie } from 'cookie';
import type { Request } from 'express';

const COOKIE_NAME = 'gateway_session';
const MAX_TOKEN_CHARACTERS = 200;

export function sessionTokenOf(request: Request): string | undefined {
  const token = parseCookie(request.headers.cookie ?? '')[COOKIE_NAME];
  return token && token.length <= MAX_TOKEN_CHARACTERS ? token : undefined;
}

/** For the browser alone: not for scripts, not for other sites. */
export function sessionCookie(token: string, expiresUnixMs: bigint, secure: boolean): string {
  return stringifySetCookie({
    name: COOKIE_NAME,
    value: token,
    httpOnly: true,
    sameSite: 'strict',
    path: '/',
    secure,
    expires: new Date(Number(expiresUnixMs)),
  });
}

export function clearedSessionCookie(secure: boolean): string {
  return sessionCookie('', 0n, secure);
}
