import { KEY, rawRequest, startEdge, type TestEdge } from '../../../testing/start-edge';

const ORIGIN = 'https://app.example.com';
const authorization = `Bearer ${KEY}`;

let edge: TestEdge;
const start = async (corsOrigins?: readonly string[]): Promise<void> => {
  edge = await startEdge(corsOrigins ? { settings: { corsOrigins } } : {});
};
afterEach(() => edge.stop());

function ask(origin: string, path = '/v1/chat/completions', method = 'POST', headers = 'authorization') {
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

it('is off by default: no answer says anything of origins, and OPTIONS is no route', async () => {
  await start();
  const asked = await ask(ORIGIN);
  const read = await rawRequest(edge.port, {
    path: '/v1/models',
    headers: { origin: ORIGIN, authorization },
  });
  expect([asked.status, read.status]).toEqual([404, 200]);
  for (const { headers } of [asked, read]) {
    expect(Object.keys(headers).filter((name) => /^access-control|^vary$/.test(name))).toEqual([]);
  }
});

it('a browser that asks first is answered without a key', async () => {
  await start([ORIGIN, 'http://localhost:3000']);
  const asked = await ask(
    ORIGIN,
    '/v1/chat/completions',
    'POST',
    'authorization, Content-Type, idempotency-key, x-stainless-lang, x-stainless-retry-count, x-evil',
  );
  expect([asked.status, asked.body]).toEqual([204, '']);
  expect(asked.headers).toMatchObject({
    'access-control-allow-origin': ORIGIN,
    'access-control-allow-methods': 'POST',
    'access-control-max-age': '7200',
    vary: 'origin, access-control-request-method, access-control-request-headers',
  });
  const allowed = String(asked.headers['access-control-allow-headers']).split(', ');
  expect(allowed).toEqual(
    expect.arrayContaining(['authorization', 'content-type', 'idempotency-key', 'x-stainless-lang']),
  );
  expect(allowed).toContain('x-stainless-retry-count');
  expect(allowed).not.toContain('x-evil');
  expect(asked.headers['access-control-allow-credentials']).toBeUndefined();
  expect((await ask(ORIGIN, '/v1/models', 'GET')).headers['access-control-allow-methods']).toBe('GET, HEAD');
});

it.each(['https://other.example.com', 'https://app.example.com.evil.com', 'null', 'HTTPS://APP.EXAMPLE.COM'])(
  'the origin %s is not allowed because another is',
  async (origin) => {
    await start([ORIGIN]);
    const asked = await ask(origin);
    const read = await rawRequest(edge.port, { path: '/v1/models', headers: { origin, authorization } });
    expect([asked.status, read.status]).toEqual([204, 200]);
    for (const { headers } of [asked, read]) {
      expect(headers['access-control-allow-origin']).toBeUndefined();
      expect(headers['vary']).toContain('origin');
    }
  },
);

it('a page may read errors, streams and the headers of both', async () => {
  await start(['*']);
  const body = { model: 'acme/m-1', messages: [{ role: 'user', content: 'Hi' }] };
  const answers = [
    await edge.chat(body, { origin: ORIGIN }),
    await edge.chat({ ...body, stream: true }, { origin: ORIGIN }),
    await edge.chat({ ...body, foo: 1 }, { origin: ORIGIN }),
    await edge.chat(body, { origin: ORIGIN, authorization: 'Bearer sk-gw-wrong' }),
    await fetch(`${edge.url}/v1/nowhere`, { headers: { origin: ORIGIN } }),
  ];
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 400, 401, 404]);
  for (const answer of answers) {
    await answer.text();
    expect(answer.headers.get('access-control-allow-origin')).toBe('*');
    expect(answer.headers.get('vary')).toBe('origin');
    const exposed = answer.headers.get('access-control-expose-headers');
    for (const name of ['x-request-id', 'x-generation-id', 'retry-after', 'idempotent-replayed']) {
      expect(exposed).toContain(name);
    }
  }
});

it('OPTIONS that is no question of a browser, or of no endpoint, stays no route', async () => {
  await start(['*']);
  const plain = await rawRequest(edge.port, { method: 'OPTIONS', path: '/v1/models' });
  expect([plain.status, (await ask(ORIGIN, '/v1/nowhere')).status]).toEqual([404, 404]);
});

it('the dashboard’s own pages may call, at whatever port they are by then', async () => {
  let port = 0;
  edge = await startEdge({
    settings: { isDashboardOrigin: (origin) => origin === `http://localhost:${port}` },
  });
  port = 4711;
  const allowedFor = async (origin: string) => {
    const answer = await fetch(`${edge.url}/v1/models`, { headers: { origin } });
    return [answer.headers.get('access-control-allow-origin'), answer.headers.get('vary')];
  };
  expect(await allowedFor('http://localhost:4711')).toEqual(['http://localhost:4711', 'origin']);
  expect(await allowedFor('http://localhost:0')).toEqual([null, 'origin']);
});
