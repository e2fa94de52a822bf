import { ApiError, createDashboardClient } from './client';

interface Sent {
  readonly url: string;
  readonly init: RequestInit;
}

function clientThatGets(response: () => Response | Promise<Response>) {
  const sent: Sent[] = [];
  const client = createDashboardClient({
    fetch: async (url, init = {}) => {
      sent.push({ url: String(url), init });
      return response();
    },
  });
  return { client, sent };
}

const failureOf = (call: Promise<unknown>) =>
  call.then(
    () => undefined,
    (error: unknown) => error as ApiError,
  );

it('fills path and query, and sends JSON with same-origin credentials', async () => {
  const { client, sent } = clientThatGets(() => Response.json({ data: [], next_page_token: null }));
  await client.call('GET /api/organizations/{organization_id}/keys', {
    params: { organization_id: 'a/b' },
    query: { page_token: 'é&', page_size: undefined },
  });
  await client.call('POST /api/session', { body: { email: 'a@b', password: 'p' } });
  expect(sent[0]?.url).toBe('/api/organizations/a%2Fb/keys?page_token=%C3%A9%26');
  expect(sent[0]?.init).toEqual({ method: 'GET', credentials: 'same-origin', headers: {} });
  expect(sent[1]?.init).toEqual({
    method: 'POST',
    credentials: 'same-origin',
    headers: { 'content-type': 'application/json' },
    body: '{"email":"a@b","password":"p"}',
  });
});

it('is typed by the table', async () => {
  const { client } = clientThatGets(() => new Response(null, { status: 204 }));
  // @ts-expect-error unknown endpoint
  await client.call('GET /api/nothing');
  // @ts-expect-error the password is missing
  await client.call('POST /api/session', { body: { email: 'a@b' } });
  // @ts-expect-error the organization is missing
  await client.call('POST /api/organizations/{organization_id}/resume');
  expect(await client.call('DELETE /api/session')).toBeUndefined();

  const params = { organization_id: 'org-1', member_id: 'mem-1' };
  const line = 'PUT /api/organizations/{organization_id}/members/{member_id}/role';
  // @ts-expect-error unknown role
  await client.call(line, { params, body: { role: 'king' } });
});

it('throws the error with param, request id and retry-after', async () => {
  const envelope = {
    error: { message: 'No.', type: 'x', code: 'too_many_attempts', param: 'code', metadata: { a: 1 } },
  };
  const headers = { 'x-request-id': 'req-1', 'retry-after': '3' };
  const { client } = clientThatGets(() => Response.json(envelope, { status: 429, headers }));
  const error = await failureOf(client.call('GET /api/session'));
  expect(error).toBeInstanceOf(ApiError);
  expect(error?.message).toBe('No.');
  expect(error?.details).toMatchObject({
    status: 429,
    code: 'too_many_attempts',
    param: 'code',
    metadata: { a: 1 },
    requestId: 'req-1',
    retryAfterMs: 3_000,
  });
});

it('distinguishes a proxy’s response and a missing one from a response of the API', async () => {
  const page = clientThatGets(() => new Response('<h1>502</h1>', { status: 502 }));
  expect((await failureOf(page.client.call('GET /api/session')))?.code).toBe('unreadable');
  const halfJson = clientThatGets(() => new Response('{"member":'));
  expect((await failureOf(halfJson.client.call('GET /api/session')))?.code).toBe('unreadable');
  const offline = clientThatGets(() => Promise.reject(new TypeError('fetch failed')));
  expect((await failureOf(offline.client.call('GET /api/session')))?.code).toBe('unreachable');
});

it('rejects with the abort reason', async () => {
  const controller = new AbortController();
  const { client, sent } = clientThatGets(() => {
    controller.abort(new Error('left the page'));
    throw controller.signal.reason;
  });
  const error = await failureOf(client.call('GET /api/session', { signal: controller.signal }));
  expect(error?.message).toBe('left the page');
  expect(sent[0]?.init.signal).toBe(controller.signal);
});
