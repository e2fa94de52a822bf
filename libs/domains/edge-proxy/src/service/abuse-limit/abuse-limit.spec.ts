import { gzipSync } from 'node:zlib';
import { Scope } from '@gateway/contracts/auth';
import { LimitScope, LimitType } from '@gateway/contracts/rate-limit';
import { GatewayError } from '@gateway/errors';
import { createTestClock, type TestClock } from '@gateway/test-support';
import {
  BODY,
  grant,
  KEY,
  startEdge,
  until,
  type StartEdgeOptions,
  type TestEdge,
} from '../../testing/start-edge';
import { aborted, finished } from '../../testing/stub-router';

const UNKNOWN_KEY = { authorization: 'Bearer sk-gw-unknown' };
const OTHER_KEY = { authorization: 'Bearer sk-gw-another' };
const MAX_FAILED = 5;

let clock: TestClock;
let edge: TestEdge;
async function start(settings: StartEdgeOptions['settings']): Promise<void> {
  clock = createTestClock();
  edge = await startEdge({ clock, settings });
  edge.keys.set('sk-gw-another', grant({ keyId: 'key_2' }));
}
afterEach(() => edge.stop());

async function codeOf(response: Response): Promise<[number, string]> {
  const body = (await response.json()) as { error?: { code: string } };
  return [response.status, body.error?.code ?? 'ok'];
}

async function abuseLimitedCount(kind: string): Promise<number> {
  const text = await edge.metrics.getSingleMetricAsString('gateway_edge_proxy_abuse_limited_total');
  return Number(new RegExp(`kind="${kind}"[^}]*} (\\d+)`).exec(text)?.[1]);
}

describe('suspicious requests of a key', () => {
  beforeEach(async () => {
    await start({ maxInvalidRequestsPerMinute: 2 });
    edge.keys.set(KEY, grant({ keyLimits: { requestsPerMinute: 1 } }));
  });

  it.each([true, false])(
    'are those that are cancelled before their response (stream: %s)',
    async (stream) => {
      edge.router.script = async function* (request, signal) {
        await aborted(signal);
        yield finished(request);
      };
      for (const count of [1, 2]) {
        const client = new AbortController();
        const response = edge.chat({ ...BODY, stream }, {}, client.signal).catch(() => undefined);
        await until(() => edge.router.requests.length === count);
        client.abort();
        await response;
        await until(() => edge.limiter.outstanding.size === 0);
      }
      expect(await codeOf(await edge.chat())).toEqual([429, 'rpm_exceeded']);
      expect(edge.router.requests).toHaveLength(2);
      expect(await abuseLimitedCount('key')).toBe(1);
    },
  );

  it('are those whose provider reports far more input than the estimate', async () => {
    edge.router.script = async function* (request) {
      const { event } = finished(request);
      if (event?.$case === 'finished') event.value.exceedsEstimate = true;
      yield { event };
    };
    expect((await edge.chat()).status).toBe(200);
    expect((await edge.chat()).status).toBe(200);
    expect(await codeOf(await edge.chat())).toEqual([429, 'rpm_exceeded']);
  });
});

describe('failed authentications', () => {
  beforeEach(() => start({ maxFailedAuthenticationsPerMinute: MAX_FAILED }));

  async function reachLimit(headers: Record<string, string> = UNKNOWN_KEY): Promise<void> {
    for (let count = 0; count < MAX_FAILED; count += 1) {
      const [status, code] = await codeOf(await edge.get('/v1/models', headers));
      expect([status, code]).toEqual([401, 'invalid_api_key']);
    }
  }

  it('are refused from the limit on, without a call to auth, until the minute ends', async () => {
    await reachLimit();
    const lookups = edge.faults.reached.length;
    const refused = await edge.get('/v1/models', UNKNOWN_KEY);
    expect(refused.status).toBe(429);
    expect(refused.headers.get('retry-after')).toBe('40');
    expect(await refused.json()).toMatchObject({
      error: {
        code: 'rpm_exceeded',
        type: 'rate_limit_error',
        metadata: { limit_type: 'rpm', scope: 'address', limit: MAX_FAILED },
      },
    });
    expect((await edge.chat({ not: 'valid' }, UNKNOWN_KEY)).status).toBe(429);
    expect((await edge.get('/v1/models', {})).status).toBe(429);
    expect(edge.faults.reached).toHaveLength(lookups);
    expect(await abuseLimitedCount('address')).toBe(3);

    clock.advance(40_000);
    expect(await codeOf(await edge.get('/v1/models', UNKNOWN_KEY))).toEqual([401, 'invalid_api_key']);
  });

  it('do not affect a key that was valid before, which gets its own errors', async () => {
    await edge.get('/v1/models');
    await reachLimit();
    expect((await edge.chat()).status).toBe(200);
    expect((await edge.get('/v1/models')).status).toBe(200);
    expect(await codeOf(await edge.chat({ ...BODY, model: 'none' }))).toEqual([404, 'model_not_found']);
    edge.keys.set(KEY, grant({ scopes: [Scope.SCOPE_USAGE_READ] }));
    expect(await codeOf(await edge.chat())).toEqual([403, 'missing_scope']);
    expect(await codeOf(await edge.get('/v1/models', UNKNOWN_KEY))).toEqual([429, 'rpm_exceeded']);
  });

  it('block a key that was not used before, until the minute ends', async () => {
    await reachLimit();
    expect((await edge.get('/v1/models', OTHER_KEY)).status).toBe(429);
    clock.advance(60_000);
    expect((await edge.get('/v1/models', OTHER_KEY)).status).toBe(200);
  });

  it.each([
    ['revoked', { revoked: true }],
    ['expired', { expiresOn: '2020-01-01' }],
    ['used from a wrong address', { ipAllowlist: ['10.0.0.0/8'] }],
  ])('count for a key that is %s, which is accepted only while it is valid', async (_name, change) => {
    await edge.get('/v1/models');
    edge.keys.set(KEY, grant(change));
    for (let count = 0; count < MAX_FAILED; count += 1) expect((await edge.chat()).status).toBe(401);
    expect((await edge.chat()).status).toBe(429);
    edge.keys.set(KEY, grant());
    expect((await edge.chat()).status).toBe(200);
  });

  it('do not count requests that are refused later, nor failures of auth', async () => {
    for (let count = 0; count < 2 * MAX_FAILED; count += 1) {
      expect((await edge.chat({ not: 'valid' })).status).toBe(400);
      edge.failNextLookup(new Error('lost'));
      expect((await edge.get('/v1/models', UNKNOWN_KEY)).status).toBe(500);
    }
    expect((await edge.get('/v1/models', UNKNOWN_KEY)).status).toBe(401);
  });
});

it('limits addresses behind a trusted proxy separately', async () => {
  await start({ maxFailedAuthenticationsPerMinute: 2, trustedProxies: ['127.0.0.1'] });
  const statusFrom = async (address: string) =>
    (await edge.get('/v1/models', { ...UNKNOWN_KEY, 'x-forwarded-for': `1.1.1.1, ${address}` })).status;
  expect([await statusFrom('10.0.0.1'), await statusFrom('10.0.0.1')]).toEqual([401, 401]);
  expect([await statusFrom('10.0.0.1'), await statusFrom('10.0.0.2')]).toEqual([429, 401]);
});

it('applies no abuse limit when the settings are 0', async () => {
  await start({ maxFailedAuthenticationsPerMinute: 0, maxInvalidRequestsPerMinute: 0 });
  for (let count = 0; count < 30; count += 1) {
    expect((await edge.get('/v1/models', UNKNOWN_KEY)).status).toBe(401);
    expect((await edge.chat({ not: 'valid' })).status).toBe(400);
  }
});

describe('invalid requests', () => {
  const LIMIT = 20;
  const limits = { keyLimits: { requestsPerMinute: 1 } };
  beforeEach(async () => {
    await start({ maxInvalidRequestsPerMinute: 1 });
    edge.keys.set(KEY, grant(limits));
  });

  async function reachLimit(): Promise<void> {
    for (let count = 0; count < LIMIT; count += 1) {
      expect((await edge.chat({ ...BODY, model: 'none' })).status).toBe(404);
    }
  }

  it('are refused from the limit on, unread and without reservations', async () => {
    await reachLimit();
    const before = edge.faults.reached.length;
    const refused = await edge.chat();
    expect(refused.headers.get('retry-after')).toBe('40');
    expect(await refused.json()).toMatchObject({
      error: {
        code: 'rpm_exceeded',
        metadata: { limit_type: 'rpm', scope: 'key', limit: LIMIT },
      },
    });
    expect(edge.faults.reached.slice(before)).toEqual(['keys.lookup']);
    expect(edge.limiter.outstanding.size + edge.ledger.held.size).toBe(0);
    expect(await abuseLimitedCount('key')).toBe(1);

    clock.advance(60_000);
    expect((await edge.chat()).status).toBe(200);
  });

  it('count by the decompressed size of their bodies too, for any error', async () => {
    const mebibyte = 'x'.repeat(1024 * 1024);
    const bodies: [Buffer | string, string, number][] = [
      [gzipSync(mebibyte), 'gzip', 400],
      [JSON.stringify({ ...BODY, messages: [{ role: 'unknown', content: mebibyte }] }), 'identity', 400],
    ];
    for (const [body, encoding, status] of bodies) {
      const headers = { authorization: `Bearer ${KEY}`, 'content-encoding': encoding };
      const send = () => fetch(`${edge.url}/v1/chat/completions`, { method: 'POST', headers, body });
      // Each counts as 17: two reach the limit of 20.
      expect([(await send()).status, (await send()).status]).toEqual([status, status]);
      expect((await send()).status).toBe(429);
      expect((await edge.chat()).status).toBe(429);
      clock.advance(60_000);
      expect((await edge.chat()).status).toBe(200);
    }
  });

  it('count the bytes read of a body that is too large', async () => {
    const huge = gzipSync(Buffer.alloc(33 * 1024 * 1024, ' '));
    const headers = { authorization: `Bearer ${KEY}`, 'content-encoding': 'gzip' };
    const send = () => fetch(`${edge.url}/v1/chat/completions`, { method: 'POST', headers, body: huge });
    expect((await send()).status).toBe(413);
    expect((await send()).status).toBe(429);
  });

  it('limit chat completions of this key only', async () => {
    await reachLimit();
    expect((await edge.chat()).status).toBe(429);
    expect((await edge.get('/v1/models')).status).toBe(200);
    expect((await edge.chat(BODY, OTHER_KEY)).status).toBe(200);
  });

  it('include requests that are refused after the claim of their Idempotency-Key', async () => {
    edge.limiter.refuse = {
      limitType: LimitType.LIMIT_TYPE_REQUESTS,
      scope: LimitScope.LIMIT_SCOPE_KEY,
      limit: 1,
      retryAfterMs: 1,
    };
    const send = (key: number) =>
      edge.chat(BODY, { authorization: `Bearer ${KEY}`, 'idempotency-key': `key-${key}` });
    for (let count = 0; count < LIMIT; count += 1) expect((await send(count)).status).toBe(429);
    const before = edge.faults.reached.length;
    expect((await send(LIMIT)).status).toBe(429);
    expect(edge.faults.reached.slice(before)).toEqual(['keys.lookup']);
  });

  it('include requests that the provider rejects', async () => {
    edge.router.script = async function* () {
      throw new GatewayError('invalid_request', { providerCalled: true });
      yield { event: undefined };
    };
    for (let count = 0; count < LIMIT; count += 1) expect((await edge.chat()).status).toBe(400);
    expect((await edge.chat()).status).toBe(429);
  });

  it('do not include requests that fail after their validation', async () => {
    edge.router.script = async function* () {
      throw new Error('broken');
      yield { event: undefined };
    };
    for (let count = 0; count < 2 * LIMIT; count += 1) expect((await edge.chat()).status).toBe(500);
    await reachLimit();
    expect((await edge.chat()).status).toBe(429);
  });
});
