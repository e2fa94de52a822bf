import type { Request, Response } from 'express';
import { createSessionCookies, sessionTokenOf } from './session-cookie';

const HTTPS = { publicOrigin: 'https://dashboard.example.com' };
const HTTP = {};

describe('the session cookie', () => {
  const requestWith = (cookie: string) => ({ headers: { cookie } }) as Request;
  const setBy = (settings: typeof HTTPS | typeof HTTP): string => {
    const set: string[] = [];
    const response = { append: (_name: string, value: string) => set.push(value) } as unknown as Response;
    const opened = { session_token: 'token', expires_at: '1970-01-01T00:00:00.000Z' };
    createSessionCookies(settings).set(response, opened);
    return set.join();
  };

  it('can be set by its own host only, over HTTPS', () => {
    expect(setBy(HTTPS)).toMatch(
      /^__Host-gateway_session=token;.* Path=\/;.*; HttpOnly; Secure; SameSite=Strict$/,
    );
    expect(setBy(HTTPS)).not.toContain('Domain');
    expect(sessionTokenOf(requestWith('__Host-gateway_session=token'), HTTPS)).toBe('token');
    expect(sessionTokenOf(requestWith('gateway_session=planted'), HTTPS)).toBeUndefined();
  });

  it('has no prefix over HTTP, which browsers would refuse', () => {
    expect(setBy(HTTP)).toMatch(/^gateway_session=token;/);
    expect(sessionTokenOf(requestWith('gateway_session=token'), HTTP)).toBe('token');
  });
});
