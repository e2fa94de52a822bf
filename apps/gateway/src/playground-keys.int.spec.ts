import { eventually } from '@gateway/test-support';
import { startCrashTestEnv, type CrashTestEnv } from './testing/crash-test-env';

jest.setTimeout(180_000);

/** Expiry and revocation of a playground key are stored in the database, so they survive a crash. */
describe('a playground key after a kill of the gateway', () => {
  let testEnv: CrashTestEnv;
  let cookie: string;
  let organizationId: string;

  beforeAll(async () => {
    testEnv = await startCrashTestEnv();
    const { adminEmail: email, adminPassword: password } = testEnv.gateway;
    const signedIn = await send('POST', '/api/session', { email, password });
    cookie = signedIn.headers.getSetCookie()[0]?.split(';')[0] ?? '';
    const { data } = (await (await send('GET', '/api/organizations')).json()) as { data: { id: string }[] };
    organizationId = data[0]?.id ?? '';
  });
  afterAll(() => testEnv?.close());

  const send = (method: string, path: string, body?: object) =>
    fetch(testEnv.gateway.dashboardUrl + path, {
      method,
      headers: { 'content-type': 'application/json', ...(cookie === undefined ? {} : { cookie }) },
      ...(method === 'GET' ? {} : { body: JSON.stringify(body ?? {}) }),
    });

  async function createKey() {
    const created = await send('POST', `/api/organizations/${organizationId}/playground/key`);
    return (await created.json()) as { key_id: string; secret: string };
  }

  /** Uses the key. @returns the status and the error code */
  async function use(secret: string): Promise<string> {
    const response = await fetch(`${testEnv.gateway.baseUrl}/credits`, {
      headers: { authorization: `Bearer ${secret}` },
    });
    const { error } = (await response.json()) as { error?: { code: string } };
    return [response.status, error?.code].filter(Boolean).join(' ');
  }

  it('expires at its time', async () => {
    const { key_id: id, secret } = await createKey();
    expect(await use(secret)).toBe('200');
    // Shortens its lifetime of 15 minutes; the restarted edge reads it from the database.
    await testEnv.pool.query(
      `update auth.api_keys set expires_at = clock_timestamp() + interval '20 seconds' where id = $1`,
      [id],
    );
    await testEnv.kill();
    await testEnv.restart();
    const seen = await eventually(
      'the key expires',
      async () => {
        const result = await use(secret);
        return result === '200' ? undefined : result;
      },
      { timeoutMs: 60_000, pollMs: 200 },
    );
    expect(seen).toBe('401 key_expired');
  });

  it('can be used from the origin of a dashboard on a random port, and from no other origin', async () => {
    const allowedFor = async (origin: string) => {
      const preflight = { origin, 'access-control-request-method': 'POST' };
      const response = await fetch(`${testEnv.gateway.baseUrl}/chat/completions`, {
        method: 'OPTIONS',
        headers: preflight,
      });
      return response.headers.get('access-control-allow-origin');
    };
    const own = testEnv.gateway.dashboardUrl;
    expect(await allowedFor(own)).toBe(own);
    expect(await allowedFor(own.replace('127.0.0.1', 'localhost'))).toBe(
      own.replace('127.0.0.1', 'localhost'),
    );
    expect(await allowedFor('http://127.0.0.1:0')).toBeNull();
    expect(await allowedFor('http://evil.example')).toBeNull();
  });

  it('is revoked when its owner signs out', async () => {
    const { secret } = await createKey();
    await testEnv.kill();
    await testEnv.restart();
    expect(await use(secret)).toBe('200');
    expect((await send('DELETE', '/api/session')).status).toBe(204);
    expect(await use(secret)).toBe('401 key_revoked');
  });
});
