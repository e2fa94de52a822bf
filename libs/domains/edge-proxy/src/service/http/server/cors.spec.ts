import { KEY, rawRequest, startEdge, type TestEdge } from '../../../testing/start-edge';

const ORIGIN = 'https://app.example.com';
const authorization = `Bearer ${KEY}`;

let edge: TestEdge;
const start = async (corsOrigins?: readonly string[]): Promise<void> => {
  edge = await startEdge(corsOrigins ? { settings: { corsOrigins } } : {});
};
afterEach(() => edge.stop());

function preflight(
  origin: string,
  path = '/v1/chat/completions',
  method = 'POST',
  headers = 'authorization',
) {
  return rawRequest(edge.port, {
    method: 'OPTIONS',
    path,
    headers: {
      origin,
      'access-control-request-method': method,
      'access-control-request-headers': headers,
    },
  });
}

it('is off by default: no CORS headers, and OPTIONS is no route', async () => {
  await start();
  const response = await preflight(ORIGIN);
  const read = await rawRequest(edge.port, {
    path: '/v1/models',
    headers: { origin: ORIGIN, authorization },
  });
  expect([response.status, read.status]).toEqual([404, 200]);
  for (const { headers } of [response, read]) {
    expect(Object.keys(headers).filter((name) => /^access-control|^vary$/.test(name))).toEqual([]);
  }
});

it('responds to a preflight without a key', async () => {
  await start([ORIGIN, 'http://localhost:3000']);
  const response = await preflight(
    ORIGIN,
    '/v1/chat/completions',
    'POST',
    'authorization, Content-Type, idempotency-key, x-stainless-lang, x-stainless-retry-count, x-evil',
  );
  expect([response.status, response.body]).toEqual([204, '']);
  expect(response.headers).toMatchObject({
    'access-control-allow-origin': ORIGIN,
    'access-control-allow-methods': 'POST',
    'access-control-max-age': '7200',
    vary: 'origin, access-control-request-method, access-control-request-headers',
  });
  const allowed = String(response.headers['access-control-allow-headers']).split(', ');
  expect(allowed).toEqual(
    expect.arrayContaining(['authorization', 'content-type', 'idempotency-key', 'x-stainless-lang']),
  );
  expect(allowed).toContain('x-stainless-retry-count');
  expect(allowed).not.toContain('x-evil');
  expect(response.headers['access-control-allow-credentials']).toBeUndefined();
  expect((await preflight(ORIGIN, '/v1/models', 'GET')).headers['access-control-allow-methods']).toBe(
    'GET, HEAD',
  );
});

it.each(['https://other.example.com', 'https://app.example.com.evil.com', 'null', 'HTTPS://APP.EXAMPLE.COM'])(
  'does not allow the origin %s because another one is allowed',
  async (origin) => {
    await start([ORIGIN]);
    const response = await preflight(origin);
    const read = await rawRequest(edge.port, { path: '/v1/models', headers: { origin, authorization } });
    expect([response.status, read.status]).toEqual([404, 200]);
    for (const { headers } of [response, read]) {
      expect(headers['access-control-allow-origin']).toBeUndefined();
      expect(headers['vary']).toContain('origin');
    }
  },
);

it('lets pages read errors, streams and response headers', async () => {
  await start(['*']);
  const body = { model: 'acme/m-1', messages: [{ role: 'user', content: 'Hi' }] };
  const responses = [
    await edge.chat(body, { origin: ORIGIN }),
    await edge.chat({ ...body, stream: true }, { origin: ORIGIN }),
    await edge.chat({ ...body, foo: 1 }, { origin: ORIGIN }),
    await edge.chat(body, { origin: ORIGIN, authorization: 'Bearer sk-gw-wrong' }),
    await fetch(`${edge.url}/v1/nowhere`, { headers: { origin: ORIGIN } }),
  ];
  expect(responses.map(({ status }) => status)).toEqual([200, 200, 400, 401, 404]);
  for (const response of responses) {
    await response.text();
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect(response.headers.get('vary')).toBe('origin');
    const exposed = response.headers.get('access-control-expose-headers');
    for (const name of ['x-request-id', 'x-generation-id', 'retry-after', 'idempotent-replayed']) {
      expect(exposed).toContain(name);
    }
  }
});

it('treats OPTIONS without preflight headers, or for an unknown path, as an unknown route', async () => {
  await start(['*']);
  const plain = await rawRequest(edge.port, { method: 'OPTIONS', path: '/v1/models' });
  expect([plain.status, (await preflight(ORIGIN, '/v1/nowhere')).status]).toEqual([404, 404]);
});

it('allows the dashboard’s origin, also when its port changes', async () => {
  let port = 0;
  edge = await startEdge({
    settings: { isDashboardOrigin: (origin) => origin === `http://localhost:${port}` },
  });
  port = 4711;
  const allowedFor = async (origin: string) => {
    const response = await fetch(`${edge.url}/v1/models`, { headers: { origin } });
    return [response.headers.get('access-control-allow-origin'), response.headers.get('vary')];
  };
  expect(await allowedFor('http://localhost:4711')).toEqual(['http://localhost:4711', 'origin']);
  expect(await allowedFor('http://localhost:0')).toEqual([null, 'origin']);
});
