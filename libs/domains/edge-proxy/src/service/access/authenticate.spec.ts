import { connect } from 'node:net';
import { Scope } from '@gateway/contracts/auth';
import { GatewayError } from '@gateway/errors';
import { grant, KEY, startEdge, type TestEdge } from '../../testing/start-edge';

let edge: TestEdge;
beforeEach(async () => {
  edge = await startEdge();
});
afterEach(() => edge.stop());

const codeOf = async (response: Response) =>
  ((await response.json()) as { error: { code: string } }).error.code;

it.each([
  ['no header', {}],
  ['an empty header', { authorization: '' }],
  ['another scheme', { authorization: `Basic ${KEY}` }],
  ['no scheme', { authorization: KEY }],
  ['no key', { authorization: 'Bearer' }],
  ["another provider's key", { authorization: 'Bearer sk-proj-1' }],
  ['a non-breaking space', { authorization: `Bearer ${KEY}\u00a0` }],
  ['an unknown key', { authorization: 'Bearer sk-gw-unknown' }],
  ['a key followed by more text', { authorization: `Bearer ${KEY} x` }],
  ['a huge key', { authorization: `Bearer sk-gw-${'x'.repeat(8_000)}` }],
  ['x-api-key', { 'x-api-key': KEY }],
  ['a cookie', { cookie: `api_key=${KEY}; Authorization=Bearer ${KEY}` }],
])('401 invalid_api_key for %s', async (_name, headers) => {
  const response = await edge.get(`/v1/models?api_key=${KEY}&key=${KEY}`, headers);
  expect(response.status).toBe(401);
  expect(response.headers.get('www-authenticate')).toBe('Bearer');
  expect(await codeOf(response)).toBe('invalid_api_key');
});

it.each([`Bearer ${KEY}`, `bearer ${KEY}`, `BEARER   ${KEY}`])('%s authenticates', async (authorization) => {
  expect((await edge.get('/v1/models', { authorization })).status).toBe(200);
});

it.each([
  ['key_revoked', 401, { revoked: true }],
  ['key_expired', 401, { expiresOn: '2020-01-01' }],
  ['key_expired', 401, { expiresUnixMs: 1_577_836_800_000n }],
  ['invalid_api_key', 401, { secretEndsUnixMs: 1_577_836_800_000n }],
  ['ip_not_allowed', 401, { ipAllowlist: ['10.0.0.0/8'] }],
  ['org_suspended', 403, { organizationSuspended: true }],
  ['missing_scope', 403, { scopes: [Scope.SCOPE_USAGE_READ] }],
])('%s is returned before the body is read', async (code, status, changes) => {
  edge.keys.set(KEY, grant(changes));
  const response = await edge.chat({ not: 'valid' });
  expect(response.status).toBe(status);
  expect(await codeOf(response)).toBe(code);
  expect(edge.faults.reached).toEqual(['keys.lookup']);
});

it('compares an allowlist by value, in any notation', async () => {
  edge.keys.set(KEY, grant({ ipAllowlist: ['::ffff:127.0.0.1'] }));
  expect((await edge.get('/v1/models')).status).toBe(200);
});

/** The status of a request with exactly these header lines. */
function statusOf(lines: readonly string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = connect(edge.port, '127.0.0.1', () => {
      socket.write(
        `GET /v1/models HTTP/1.1\r\n${['host: x', 'connection: close', ...lines].join('\r\n')}\r\n\r\n`,
      );
    });
    let received = '';
    socket.on('data', (data) => (received += data.toString()));
    socket.on('error', reject);
    socket.on('close', () => resolve(Number(received.split(' ')[1])));
  });
}

it('refuses two Authorization headers, whichever is valid', async () => {
  const valid = `Authorization: Bearer ${KEY}`;
  expect(await statusOf([valid])).toBe(200);
  expect(await statusOf([valid, 'authorization: Bearer sk-gw-other'])).toBe(401);
  expect(await statusOf(['authorization: Bearer sk-gw-other', valid])).toBe(401);
  expect(await statusOf([valid, valid])).toBe(401);
});

it('enforces an allowlist behind an appending proxy, with thousands of headers before its line', async () => {
  await edge.stop();
  edge = await startEdge({ settings: { trustedProxies: ['127.0.0.1'] } });
  edge.keys.set(KEY, grant({ ipAllowlist: ['10.0.0.1', '127.0.0.1'] }));
  const lines = (address: string) => [
    `authorization: Bearer ${KEY}`,
    ...Array.from({ length: 3_000 }, () => 'a: b'),
    `x-forwarded-for: ${address}`,
  ];
  expect(await statusOf(lines('10.0.0.1'))).toBe(200);
  expect(await statusOf(lines('203.0.113.9'))).toBe(401);
});

it('requires a scope for all endpoints except models', async () => {
  edge.keys.set(KEY, grant({ scopes: [] }));
  expect((await edge.get('/v1/models')).status).toBe(200);
  for (const path of ['/v1/credits', '/v1/generation?id=gen-1', '/v1/usage']) {
    const response = await edge.get(path);
    expect(response.status).toBe(403);
    expect(await response.json()).toMatchObject({
      error: { code: 'missing_scope', metadata: { required_scope: 'usage:read' } },
    });
  }
});

it('never reports a failing auth service as an unknown key', async () => {
  edge.failNextLookup(new GatewayError('no_capacity'));
  const late = await edge.get('/v1/models');
  expect([late.status, await codeOf(late)]).toEqual([503, 'no_capacity']);
  edge.failNextLookup(new Error('a bug at 10.1.2.3'));
  const broken = await edge.get('/v1/models');
  const text = await broken.text();
  expect(broken.status).toBe(500);
  expect(broken.headers.get('x-should-retry')).toBe('false');
  expect(text).toContain('"code":"internal_error"');
  expect(text).not.toContain('10.1.2.3');
});

it('authenticates each request of a connection by its own key, in its current state', async () => {
  edge.keys.set('sk-gw-revoked', grant({ revoked: true }));
  const requestWith = (key: string, more = '') =>
    `GET /v1/models HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\n${more}\r\n`;
  const received = await new Promise<string>((resolve, reject) => {
    const socket = connect(edge.port, '127.0.0.1');
    let text = '';
    socket.on('data', (data) => {
      const before = text.match(/HTTP\/1\.1 /g)?.length ?? 0;
      text += String(data);
      if (before > 0 || !text.includes('}')) return;
      // After the first response, the key's organization is suspended.
      edge.keys.set(KEY, grant({ organizationSuspended: true }));
      const others = [KEY, 'sk-gw-revoked', 'sk-gw-unknown'].map((key) => requestWith(key));
      socket.write(others.join('') + requestWith(KEY, 'connection: close\r\n'));
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(text));
    socket.write(requestWith(KEY));
  });
  expect(received.match(/HTTP\/1\.1 \d+|"code":"\w+"/g)).toEqual([
    'HTTP/1.1 200',
    'HTTP/1.1 403',
    '"code":"org_suspended"',
    'HTTP/1.1 401',
    '"code":"key_revoked"',
    'HTTP/1.1 401',
    '"code":"invalid_api_key"',
    'HTTP/1.1 403',
    '"code":"org_suspended"',
  ]);
});
