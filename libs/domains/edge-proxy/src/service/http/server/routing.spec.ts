import { KEY, rawRequest, startEdge, type TestEdge } from '../../../testing/start-edge';

let edge: TestEdge;
beforeAll(async () => {
  edge = await startEdge();
});
afterAll(() => edge.stop());

const authorization = `Bearer ${KEY}`;

it.each([
  ['GET', '/'],
  ['GET', '/v1'],
  ['GET', '/models'],
  ['GET', '/v1/v1/models'],
  ['GET', '/v1/models/'],
  ['GET', '/V1/models'],
  ['GET', '/v1/Models'],
  ['GET', '//v1/models'],
  ['GET', '/v1//models'],
  ['GET', '/v1/%6Dodels'],
  ['GET', '/v1/models/acme'],
  ['GET', '/v1/../v1/models'],
  ['GET', '/v1/chat/completions'],
  ['HEAD', '/v1/chat/completions'],
  ['POST', '/v1/models'],
  ['PUT', '/v1/credits'],
  ['DELETE', '/v1/usage'],
  ['OPTIONS', '/v1/models'],
  ['OPTIONS', '/v1/chat/completions'],
  ['OPTIONS', '*'],
  ['TRACE', '/v1/models'],
  ['POST', '/v1/responses'],
  ['GET', '/%'],
  ['GET', '/__proto__'],
])('%s %s is no route, with or without a key', async (method, path) => {
  for (const headers of [undefined, { authorization }]) {
    const { status, headers: responseHeaders, body } = await rawRequest(edge.port, { method, path, headers });
    expect(status).toBe(404);
    expect(responseHeaders['content-type']).toBe('application/json');
    expect(responseHeaders['x-request-id']).toMatch(/^req_/);
    expect(responseHeaders['x-content-type-options']).toBe('nosniff');
    expect(responseHeaders['strict-transport-security']).toMatch(/^max-age=\d+/);
    expect(responseHeaders['allow']).toBeUndefined();
    if (method === 'HEAD') expect(body).toBe('');
    else {
      expect(JSON.parse(body)).toEqual({
        error: {
          message: expect.any(String),
          type: 'not_found_error',
          code: 'route_not_found',
          metadata: {},
        },
      });
    }
  }
});

it.each([
  ['POST', '/v1/responses', 'The Responses API is not supported. Use POST /v1/chat/completions.'],
  ['GET', '/v1/responses/resp_1', 'The Responses API is not supported. Use POST /v1/chat/completions.'],
  ['POST', '/v1/completions', 'Text completions are not supported. Use POST /v1/chat/completions.'],
  ['POST', '/v1/messages', 'The Messages API is not supported. Use POST /v1/chat/completions.'],
  ['POST', '/v1/embeddings', 'Embeddings are not supported. GET /v1/models lists the available chat models.'],
  [
    'GET',
    '/v1/models/acme/m-1',
    'Retrieving a single model is not supported. Find it by its id in GET /v1/models.',
  ],
  ['POST', '/chat/completions', 'The prefix /v1 is missing: use /v1/chat/completions.'],
  ['GET', '/v1/v1/models', 'The prefix /v1 is doubled: use /v1/models.'],
  ['GET', '/v1/models/', 'Paths are matched exactly: use /v1/models.'],
  ['GET', '/v1/chat/completions', 'Use POST /v1/chat/completions.'],
])('%s %s gets a hint', async (method, path, hint) => {
  const { body } = await rawRequest(edge.port, { method, path });
  expect((JSON.parse(body) as { error: { message: string } }).error.message).toBe(
    `This path does not exist. ${hint}`,
  );
});

it('HEAD on a GET route returns the headers of GET without the body', async () => {
  const get = await rawRequest(edge.port, { path: '/v1/models', headers: { authorization } });
  const head = await rawRequest(edge.port, {
    method: 'HEAD',
    path: '/v1/models',
    headers: { authorization },
  });
  expect(head.status).toBe(200);
  expect(head.body).toBe('');
  expect(head.headers['content-length']).toBe(String(Buffer.byteLength(get.body)));
});

it('a query does not change the route', async () => {
  expect((await edge.get('/v1/models?x=1')).status).toBe(200);
});

it('routes an HTTP/1.1 request in absolute form', async () => {
  const path = 'http://gateway.example/v1/models';
  expect((await rawRequest(edge.port, { path, headers: { authorization } })).status).toBe(200);
});
