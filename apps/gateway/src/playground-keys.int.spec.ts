import { eventually } from '@gateway/test-support';
import { startCrashTestEnv, type CrashTestEnv } from './testing/crash-test-env';

jest.setTimeout(180_000);

/** What the playground's key promises is in the database, so that it outlives whoever made it. */
describe('a key of the playground, after the gateway was killed', () => {
  let testEnv: CrashTestEnv;
  let cookie: string;
  let organizationId: string;

  beforeAll(async () => {
    testEnv = await startCrashTestEnv();
    const { adminEmail: email, adminPassword: password } = testEnv.gateway;
    const signedIn = await ask('POST', '/api/session', { email, password });
    cookie = signedIn.headers.getSetCookie()[0]?.split(';')[0] ?? '';
    const { data } = (await (await ask('GET', '/api/organizations')).json()) as { data: { id: string }[] };
    organizationId = data[0]?.id ?? '';
  });
  afterAll(() => testEnv?.close());

  const ask = (method: string, path: string, body?: object) =>
    fetch(testEnv.gateway.dashboardUrl + path, {
      method,
      headers: { 'content-type': 'application/json', ...(cookie === undefined ? {} : { cookie }) },
      ...(method === 'GET' ? {} : { body: JSON.stringify(body ?? {}) }),
    });

  async function makeKey() {
    const made = await ask('POST', `/api/organizations/${organizationId}/playground/key`);
    return (await made.json()) as { key_id: string; secret: string };
  }

  /** What the public API says to it: the status, and the code of the refusal. */
  async function use(secret: string): Promise<string> {
    const answer = await fetch(`${testEnv.gateway.baseUrl}/credits`, {
      headers: { authorization: `Bearer ${secret}` },
    });
    const { error } = (await answer.json()) as { error?: { code: string } };
    return [answer.status, error?.code].filter(Boolean).join(' ');
  }

  it('ends at its moment, by itself', async () => {
    const { key_id: id, secret } = await makeKey();
    expect(await use(secret)).toBe('200');
    // Its quarter of an hour in seconds; the edge that serves it afterwards knows only what is written.
    await testEnv.pool.query(
      `update auth.api_keys set expires_at = clock_timestamp() + interval '20 seconds' where id = $1`,
      [id],
    );
    await testEnv.kill();
    await testEnv.restart();
    const seen = await eventually(
      'the key expires',
      async () => {
        const answer = await use(secret);
        return answer === '200' ? undefined : answer;
      },
      { patienceMs: 60_000, pollMs: 200 },
    );
    expect(seen).toBe('401 key_expired');
  });

  it('may be used by the pages of a dashboard whose port was picked at the start, and by no others', async () => {
    const allowedFor = async (origin: string) => {
      const question = { origin, 'access-control-request-method': 'POST' };
      const answer = await fetch(`${testEnv.gateway.baseUrl}/chat/completions`, {
        method: 'OPTIONS',
        headers: question,
      });
      return answer.headers.get('access-control-allow-origin');
    };
    const own = testEnv.gateway.dashboardUrl;
    expect(await allowedFor(own)).toBe(own);
    expect(await allowedFor(own.replace('127.0.0.1', 'localhost'))).toBe(
      own.replace('127.0.0.1', 'localhost'),
    );
    expect(await allowedFor('http://127.0.0.1:0')).toBeNull();
    expect(await allowedFor('http://evil.example')).toBeNull();
  });

  it('ends when its person signs out', async () => {
    const { secret } = await makeKey();
    await testEnv.kill();
    await testEnv.restart();
    expect(await use(secret)).toBe('200');
    expect((await ask('DELETE', '/api/session')).status).toBe(204);
    expect(await use(secret)).toBe('401 key_revoked');
  });
});
