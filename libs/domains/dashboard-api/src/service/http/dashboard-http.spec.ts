import { get } from 'node:http';
import {
  allEndpoints,
  allParts,
  DashboardError,
  endpoints,
  nameOf,
  parts,
  type Endpoint,
} from '@gateway/dashboard-contract';
import { GatewayError } from '@gateway/errors';
import {
  createAdminClient,
  implement,
  serveEndpoints,
  type JsonResult,
  type RawInput,
  type RequestClient,
} from '@gateway/admin-calls';
import { stubsOf } from '@gateway/admin-calls/testing';
import type { InferenceRouterDefinition } from '@gateway/contracts/inference-router';
import { createActingTransport, createInProcessTransport, type RpcClient } from '@gateway/rpc';
import { createMetrics, createSilentLogger, newId, systemClock } from '@gateway/runtime';
import { unsignedActors } from '@gateway/test-support';
import { createDashboardApi, type DashboardApi, type DashboardApiSettings } from '../../index';

const MEMBER = { id: 'mem-1', email: 'ops@example.com', name: '', role: 'operator' as const };
const STATE: JsonResult<typeof endpoints.session.current> = {
  member: MEMBER,
  expires_at: '2025-11-24T16:00:00.000Z',
  idle_expires_at: '2025-11-24T13:13:20.000Z',
  memberships: [],
  permissions: ['platform:audit'],
  signed_in_by: 'password',
  second_factor: false,
  has_password: true,
  time_zone: '',
  second_factor_setup_required: false,
};
const LIMITS = {
  ...{ requests_per_minute: 600, tokens_per_minute: null, concurrency: 8, max_output_tokens: null },
  ...{ daily_budget_usd: null, weekly_budget_usd: null, monthly_budget_usd: null, total_budget_usd: null },
  multiple_completions: false,
};
const RULES = {
  ...{ allowed_providers: [], denied_providers: [], allowed_regions: [], denied_regions: [] },
};
const KEY: JsonResult<typeof parts.key>['key'] = {
  ...{ id: 'key-1', organization_id: 'org-1', kind: 'standard', name: 'a key', last4: 'abcd' },
  ...{ scopes: ['chat'], allowed_models: ['acme/m'], ip_allowlist: [], json_streaming: false },
  ...{ expires_on: null, expires_at: null, project_id: null, budgets: [] },
  ...{ requests_per_minute: 5, tokens_per_minute: null, concurrency: null },
  ...{ daily_budget_usd: null, weekly_budget_usd: null, monthly_budget_usd: null, total_budget_usd: null },
  ...{ created_at: '2025-11-24T16:00:00.000Z', revoked_at: null, state: 'active', version: 3 },
  ...{ owner: null, previous_secret: null },
};
const BOUNDS = {
  ...{ requests_per_minute: 600, tokens_per_minute: null, concurrency: 8 },
  ...{ daily_budget_usd: null, weekly_budget_usd: null, monthly_budget_usd: null, total_budget_usd: null },
};
let key = KEY;
/** Thrown for a change of a key. */
let keyRefusal: DashboardError | undefined;
/** The bodies of changes of keys. */
const keyChanges: unknown[] = [];

const changed = (body: unknown) => {
  keyChanges.push(body);
  if (keyRefusal) throw keyRefusal;
  return key;
};
/** The requests to authorize, and to sign in and out, with what auth learns of the browser. */
const calls: { part: string; body: unknown; client?: RequestClient }[] = [];
/** Thrown for the next request to authorize or sign in. */
let refusal: Error | undefined;

const record = (part: string, { body, client }: { body: unknown; client: RequestClient }) => {
  calls.push({ part, body, client });
  if (refusal) throw refusal;
};

/** Checks each request, and serves sessions, limits and keys only. */
const authEndpoints = [
  implement(parts.authorize, async (input) => {
    record('authorize', input);
    const { session_token: token, organization_id: organizationId } = input.body;
    if (token !== 'token') throw new DashboardError('not_signed_in');
    if (organizationId !== undefined && organizationId !== 'org-1')
      throw new DashboardError('not_found', { message: 'This organization does not exist.' });
    return { session_id: 'ses-1', member: MEMBER, organization_role: null };
  }),
  implement(parts.signIn, async (input) => {
    record('signIn', input);
    if (input.body.password !== 'right') throw new DashboardError('sign_in_refused');
    return { session_token: 'token', expires_at: STATE.expires_at, state: STATE };
  }),
  implement(endpoints.session.current, async () => STATE),
  implement(endpoints.session.signOut, async () => {
    calls.push({ part: 'signOut', body: {} });
    return undefined;
  }),
  implement(parts.effectiveLimits, async () => ({ limits: { ...LIMITS, budgets: [] }, target_rules: RULES })),
  implement(parts.key, async () => ({ key, bounds: BOUNDS })),
  implement(endpoints.keys.create, async ({ body }) => ({
    ...{ key: changed(body), secret: 'sk-gw-secret', bounds: BOUNDS },
  })),
  implement(endpoints.keys.update, async ({ body }) => ({ key: changed(body) })),
  implement(endpoints.keys.revoke, async ({ body }) => ({ key: changed(body) })),
];
const served = new Set<Endpoint>(authEndpoints.map(({ endpoint }) => endpoint));
const otherEndpoints = stubsOf(
  [...allEndpoints(), ...allParts()].filter((each) => each.owner === 'auth' && !served.has(each)),
);
const authService = serveEndpoints('auth', [...authEndpoints, ...otherEndpoints], {
  isUnavailable: () => false,
});
const authOwner = createAdminClient(
  createActingTransport(createInProcessTransport([authService], { actors: unsignedActors }), {
    ...{ audience: 'test', signer: unsignedActors },
  }),
);
type Router = RpcClient<typeof InferenceRouterDefinition>;

describe('the dashboard API over HTTP', () => {
  let usageFails = false;
  let ledgerRefuses = false;
  let api: DashboardApi;

  async function* catalogue() {
    yield { models: [{ id: 'acme/m' }, { id: 'acme/other' }] };
    throw new Error('the second message must not be read');
  }

  const forwarded: unknown[] = [];
  const ledger = {
    call: () => Promise.reject(new Error('not called')),
    forward: async (endpoint: Endpoint, input: RawInput) => {
      forwarded.push({ endpoint: nameOf(endpoint), ...input });
      if (ledgerRefuses)
        throw new DashboardError('conflict', { message: 'No.', metadata: { available_usd: '1' } });
      return '{"as":"the owner wrote it"}';
    },
  };
  const usage = {
    call: async () => {
      if (usageFails) throw new GatewayError('no_capacity');
      const last_used_at = '2025-11-24T16:00:00.000Z';
      return { data: [{ last_used_at, spend_today_usd: '0.000000001', spend_this_month_usd: '2' }] };
    },
  };

  async function startApi(settings: Partial<DashboardApiSettings> = {}): Promise<DashboardApi> {
    const started = createDashboardApi({
      owners: {
        auth: authOwner,
        'billing-ledger': ledger,
        'generation-query': usage as never,
        'inference-router': {} as never,
      },
      inferenceRouter: { watchCatalogue: () => catalogue() } as unknown as Router,
      auditLogs: [],
      deadLetters: new Map(),
      clock: systemClock,
      newId,
      log: createSilentLogger(),
      metrics: createMetrics({ processMetrics: false }),
      settings: { host: '127.0.0.1', port: 0, ...settings },
    });
    await started.start();
    return started;
  }

  beforeAll(async () => {
    api = await startApi();
  });
  afterAll(() => api.stop());
  beforeEach(() => {
    calls.length = 0;
    keyChanges.length = 0;
    key = KEY;
    keyRefusal = undefined;
    refusal = undefined;
    usageFails = false;
    ledgerRefuses = false;
    forwarded.length = 0;
  });

  interface RequestOptions {
    body?: unknown;
    rawBody?: string;
    headers?: Record<string, string>;
    signedIn?: boolean;
  }

  async function request(
    endpoint: string,
    { body, rawBody, headers = {}, signedIn = true }: RequestOptions = {},
    to = api,
  ) {
    const [method = '', path = ''] = endpoint.split(' ');
    const text = rawBody ?? (body === undefined ? undefined : JSON.stringify(body));
    const response = await fetch(`http://127.0.0.1:${to.port()}${path}`, {
      method,
      headers: {
        ...(method === 'GET' ? {} : { 'content-type': 'application/json' }),
        ...(signedIn ? { cookie: 'gateway_session=token' } : {}),
        ...headers,
      },
      ...(text === undefined ? {} : { body: text }),
    });
    const responseText = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json');
    return {
      status: response.status,
      headers: response.headers,
      json: (isJson ? JSON.parse(responseText) : undefined) as Record<string, unknown> & {
        error?: Record<string, unknown>;
      },
      text: responseText,
    };
  }

  it('signs in with an HttpOnly, SameSite=Strict cookie', async () => {
    const response = await request('POST /api/session', {
      signedIn: false,
      body: { email: 'ops@example.com', password: 'right' },
    });
    expect(response.status).toBe(200);
    expect(response.json).toEqual(STATE);
    const cookie = response.headers.get('set-cookie');
    expect(cookie).toMatch(/^gateway_session=token;/);
    expect(cookie).toMatch(/; HttpOnly/);
    expect(cookie).toMatch(/; SameSite=Strict/);
    expect(cookie).toMatch(/; Path=\//);
    expect(cookie).not.toMatch(/Secure/);
  });

  it('sets the Secure attribute with an https origin', async () => {
    const secure = await startApi({ publicOrigin: 'https://dashboard.example.com' });
    const response = await request(
      'POST /api/session',
      { body: { email: 'a@b', password: 'right' }, headers: { origin: 'https://dashboard.example.com' } },
      secure,
    );
    expect(response.headers.get('set-cookie')).toMatch(/; Secure/);
    await secure.stop();
  });

  it('denies powerful features of the browser to its pages', async () => {
    const { headers } = await request('GET /api/session');
    expect(headers.get('permissions-policy')).toMatch(/^accelerometer=\(\), .*camera=\(\).*usb=\(\)$/);
  });

  it('reports to auth which requests no person caused', async () => {
    await request('GET /api/session', { headers: { 'gateway-background': 'true' } });
    expect(calls[0]).toMatchObject({ part: 'authorize', body: { background: true } });
  });

  it('rejects a wrong password with 401, and too many attempts with 429 and retry-after', async () => {
    const body = { email: 'ops@example.com', password: 'wrong' };
    const refused = await request('POST /api/session', { body, signedIn: false });
    expect(refused.status).toBe(401);
    expect(refused.json.error).toEqual({
      message: 'Incorrect email or password.',
      type: 'authentication_error',
      code: 'sign_in_refused',
      metadata: {},
    });
    refusal = new DashboardError('too_many_attempts', { retryAfterMs: 1_500 });
    const throttled = await request('POST /api/session', { body, signedIn: false });
    expect(throttled.status).toBe(429);
    expect(throttled.headers.get('retry-after')).toBe('2');
    expect(throttled.json.error?.['code']).toBe('too_many_attempts');
  });

  it('ends an earlier session of the same browser at sign-in', async () => {
    await request('POST /api/session', { body: { email: 'ops@example.com', password: 'right' } });
    expect(calls).toMatchObject([{ part: 'signIn', body: { earlier_session_token: 'token' } }]);
  });

  it('authorizes with the permission of the contract before it validates', async () => {
    refusal = new DashboardError('forbidden');
    const response = await request('POST /api/organizations/org-1/keys', { body: { nonsense: true } });
    expect([response.status, response.json.error?.['code']]).toEqual([403, 'forbidden']);
    expect(calls).toEqual([
      {
        part: 'authorize',
        body: {
          session_token: 'token',
          access: 'keys:manage_own',
          organization_id: 'org-1',
          background: false,
          confirmed: false,
        },
        client: {
          ipAddress: '127.0.0.1',
          device: 'node',
          dashboardUrl: `http://127.0.0.1:${api.port()}`,
        },
      },
    ]);
  });

  it('ends the session and clears the cookie at sign-out', async () => {
    const response = await request('DELETE /api/session');
    expect(response.status).toBe(204);
    expect(response.headers.get('set-cookie')).toMatch(/^gateway_session=;.*Expires=Thu, 01 Jan 1970/);
    expect(calls.at(-1)).toMatchObject({ part: 'signOut' });
  });

  it.each([
    'GET /api/session',
    'GET /api/organizations',
    'GET /api/organizations/org-1/balance',
    'POST /api/organizations/org-1/credits',
    'POST /api/organizations/org-1/keys/key-1/revoke',
    'GET /api/audit',
    'GET /api/no-such-path',
  ])('rejects %s without a session', async (endpoint) => {
    const attempts: Record<string, string>[] = [
      {},
      { cookie: 'gateway_session=other' },
      { authorization: 'Bearer token' },
    ];
    for (const headers of attempts) {
      const response = await request(endpoint, {
        signedIn: false,
        headers,
        ...(endpoint.startsWith('POST') ? { body: {} } : {}),
      });
      expect(response.status).toBe(401);
      expect(response.json.error?.['code']).toBe('not_signed_in');
    }
    expect(calls.filter(({ part }) => part !== 'authorize')).toEqual([]);
  });

  it('rejects writes from other origins and writes that a form could send', async () => {
    const endpoint = 'POST /api/organizations/org-1/keys/key-1/revoke';
    for (const origin of ['https://evil.example', 'null', `http://127.0.0.1:1`]) {
      const response = await request(endpoint, { body: {}, headers: { origin } });
      expect([response.status, response.json.error?.['code']]).toEqual([403, 'cross_origin']);
    }
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp']) {
      const response = await request(endpoint, { rawBody: '{}', headers: { 'content-type': type } });
      expect([response.status, response.json.error?.['code']]).toEqual([415, 'unsupported_media_type']);
    }
    expect(calls).toEqual([]);
    const own = await request(endpoint, { body: {}, headers: { origin: `http://127.0.0.1:${api.port()}` } });
    expect(own.status).toBe(200);
  });

  it('rejects headers that are too large in the error format', async () => {
    const response = await request('GET /api/session', { headers: { 'x-long': 'x'.repeat(20_000) } });
    expect([response.status, response.json.error?.['code']]).toEqual([431, 'headers_too_large']);
    expect(response.headers.get('x-request-id')).toMatch(/^req_/);
  });

  it('rejects host names that another site could own', async () => {
    const statusAs = (host: string, path: string) =>
      new Promise<number | undefined>((resolve, reject) => {
        get({ port: api.port(), path, headers: { host } }, (response) => {
          resolve(response.resume().statusCode);
        }).on('error', reject);
      });
    expect(await statusAs('evil.example', '/')).toBe(421);
    expect(await statusAs('evil.example', '/api/session')).toBe(421);
    expect(await statusAs('localhost', '/')).toBe(200);
    expect(calls).toEqual([]);
  });

  it.each(['POST /api/organizations/org-1/keys', 'PATCH /api/organizations/org-1/keys/key-1'])(
    'rejects a model that is not in the catalogue on %s',
    async (endpoint) => {
      const body = { name: 'a key', scopes: ['chat'], allowed_models: ['acme/m', 'acme/mm'] };
      const refused = await request(endpoint, { body });
      expect([refused.status, refused.json.error]).toEqual([
        400,
        expect.objectContaining({ code: 'invalid', param: 'allowed_models[1]' }),
      ]);
      expect(keyChanges).toEqual([]);
      const accepted = await request(endpoint, { body: { ...body, allowed_models: ['acme/other'] } });
      expect(accepted.status).toBeLessThan(300);
    },
  );

  it.each(['POST /api/organizations/org-1/keys', 'PATCH /api/organizations/org-1/keys/key-1'])(
    'rejects an empty list of models on %s, since only null allows all of them',
    async (endpoint) => {
      const body = { name: 'a key', scopes: ['chat'], allowed_models: [] };
      const refused = await request(endpoint, { body });
      expect([refused.status, refused.json.error]).toEqual([
        400,
        expect.objectContaining({ code: 'invalid', param: 'allowed_models' }),
      ]);
      expect(keyChanges).toEqual([]);
      expect((await request(endpoint, { body: { ...body, allowed_models: null } })).status).toBeLessThan(300);
      expect(keyChanges).toMatchObject([{ allowed_models: null }]);
    },
  );

  it('keeps a key’s model that was removed from the catalogue', async () => {
    key = { ...KEY, allowed_models: ['acme/removed'] };
    const endpoint = 'PATCH /api/organizations/org-1/keys/key-1';
    const { status } = await request(endpoint, { body: { allowed_models: ['acme/removed', 'acme/m'] } });
    expect(status).toBe(200);
  });

  it('returns the secret of a key only at creation', async () => {
    const body = { name: 'a key', scopes: ['chat'], daily_budget_usd: '1.50' };
    const created = await request('POST /api/organizations/org-1/keys', { body });
    expect([created.status, created.json]).toEqual([
      201,
      { key: KEY, secret: 'sk-gw-secret', bounds: BOUNDS },
    ]);
    expect(keyChanges).toMatchObject([{ name: 'a key', daily_budget_usd: 1_500_000_000n }]);
    const read = await request('GET /api/organizations/org-1/keys/key-1');
    expect(Object.keys(read.json)).toEqual(['key', 'bounds']);
    expect(read.text).not.toContain('secret":"');
  });

  it('returns a key’s activity, or null while usage is unavailable', async () => {
    const endpoint = 'GET /api/organizations/org-1/keys/key-1';
    expect((await request(endpoint)).json['key']).toMatchObject({
      activity: {
        last_used_at: '2025-11-24T16:00:00.000Z',
        spend_today_usd: '0.000000001',
        spend_this_month_usd: '2',
      },
    });
    usageFails = true;
    const without = await request(endpoint);
    expect([without.status, without.json['key']]).toEqual([200, expect.objectContaining({ activity: null })]);
  });

  it('maps refusals of a domain to errors of the API', async () => {
    keyRefusal = new DashboardError('invalid', { message: 'Too much.', param: 'daily_budget_usd' });
    const patched = await request('PATCH /api/organizations/org-1/keys/key-1', { body: {} });
    expect(patched.status).toBe(400);
    expect(patched.json.error).toMatchObject({
      code: 'invalid',
      param: 'daily_budget_usd',
      message: 'Too much.',
    });
    keyRefusal = new DashboardError('conflict', { message: 'Cannot.' });
    const revoked = await request('POST /api/organizations/org-1/keys/key-1/revoke', { body: {} });
    expect([revoked.status, revoked.json.error?.['code']]).toEqual([409, 'conflict']);
  });

  it.each<[string, unknown, string]>([
    ['PUT /api/organizations/org-1/limits', { requests_per_minute: 0 }, 'requests_per_minute'],
    ['PUT /api/organizations/org-1/limits', { request_per_minute: 5 }, 'request_per_minute'],
    ['POST /api/organizations/org-1/keys', { name: 'x', scopes: ['admin'] }, 'scopes[0]'],
    ['POST /api/organizations/org-1/keys', { scopes: ['chat'] }, 'name'],
    ['POST /api/organizations/org-1/keys', { name: 'x', scopes: ['chat'], color: 'red' }, 'color'],
    ['POST /api/organizations/org-1/keys', { name: 'x', scopes: ['chat'], concurrency: 1.5 }, 'concurrency'],
    ['POST /api/organizations/org-1/keys', { name: 'x', scopes: ['chat'], concurrency: 1e30 }, 'concurrency'],
    [
      'POST /api/organizations/org-1/keys',
      { name: 'x', scopes: ['chat'], daily_budget_usd: 5 },
      'daily_budget_usd',
    ],
    ['POST /api/organizations/org-1/suspend', { reason: 5 }, 'reason'],
    ['POST /api/organizations/org-1/resume', { now: true }, 'now'],
    ['POST /api/session', { email: 'a@b' }, 'password'],
  ])('rejects %s with %j, naming %s, without side effects', async (endpoint, body, param) => {
    const response = await request(endpoint, { body });
    expect([response.status, response.json.error?.['code'], response.json.error?.['param']]).toEqual([
      400,
      'invalid',
      param,
    ]);
    expect(calls.filter(({ part }) => part !== 'authorize')).toEqual([]);
  });

  it('forwards a request to the owner of its endpoint as it was sent, and returns the owner’s JSON', async () => {
    const response = await request('POST /api/organizations/org-1/credits', {
      body: { amount_usd: '10.00', other: [1] },
      headers: { 'idempotency-key': 'one', 'x-other': 'y' },
    });
    expect([response.status, response.text]).toEqual([201, '{"as":"the owner wrote it"}']);
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(forwarded).toEqual([
      {
        endpoint: 'POST /api/organizations/{organization_id}/credits',
        params: { organization_id: 'org-1' },
        query: {},
        body: { amount_usd: '10.00', other: [1] },
        headers: { 'idempotency-key': 'one' },
        client: { ipAddress: '127.0.0.1', device: 'node', dashboardUrl: `http://127.0.0.1:${api.port()}` },
      },
    ]);
    expect(calls.map(({ part }) => part)).toEqual(['authorize']);
  });

  it('forwards nothing without a session, and returns a refusal of the owner', async () => {
    const credits = 'POST /api/organizations/org-1/credits';
    expect((await request(credits, { body: {}, signedIn: false })).status).toBe(401);
    expect(forwarded).toEqual([]);
    ledgerRefuses = true;
    const refused = await request(credits, { body: {} });
    expect([refused.status, refused.json.error]).toEqual([
      409,
      expect.objectContaining({ code: 'conflict', message: 'No.', metadata: { available_usd: '1' } }),
    ]);
  });

  it.each<[string, RequestOptions, number, string]>([
    ['POST /api/session', { rawBody: '{' }, 400, 'invalid_json'],
    ['POST /api/session', { rawBody: '"text"' }, 400, 'invalid_json'],
    ['POST /api/session', { rawBody: '[]' }, 400, 'invalid'],
    ['POST /api/session', { rawBody: `{"a":"${'x'.repeat(110_000)}"}` }, 413, 'body_too_large'],
    [
      'POST /api/session',
      { rawBody: '{}', headers: { 'content-encoding': 'odd' } },
      415,
      'unsupported_media_type',
    ],
    ['POST /api/session', { rawBody: '{}', headers: { 'content-encoding': 'gzip' } }, 400, 'invalid_json'],
    ['POST /api/session', { rawBody: '{"__proto__":{"email":"a"}}' }, 400, 'invalid'],
    ['GET /api/organizations/%E0%A4%A', {}, 404, 'not_found'],
    ['GET /api/organizations/unknown', {}, 404, 'not_found'],
    ['GET /api/organizations/org-1/', { headers: { cookie: 'gateway_session=%%%' } }, 401, 'not_signed_in'],
    ['GET /api/nothing', {}, 404, 'not_found'],
    ['PUT /api/organizations/org-1', { body: {} }, 404, 'not_found'],
    ['GET /nothing', {}, 404, 'not_found'],
    ['GET /api/organizations?sort=name', {}, 400, 'invalid'],
    ['GET /api/organizations?page_size=0', {}, 400, 'invalid'],
    ['GET /api/organizations?page_size=1&page_size=2', {}, 400, 'invalid'],
    ['GET /api/organizations?page_token=a&page_token=b', {}, 400, 'invalid'],
  ])('rejects %s %j in the error format, never with a 500', async (endpoint, options, status, code) => {
    const response = await request(endpoint, options);
    expect([response.status, response.json.error?.['code']]).toEqual([status, code]);
    expect(Object.keys(response.json)).toEqual(['error']);
    expect(response.headers.get('x-request-id')).toMatch(/^req_/);
  });

  it('does not reveal unexpected errors', async () => {
    refusal = new Error('password of the database is hunter2');
    const response = await request('GET /api/session');
    expect(response.status).toBe(500);
    expect(response.text).not.toContain('hunter2');
  });

  it('serves a start page', async () => {
    const response = await request('GET /', { signedIn: false });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toMatch(/^text\/html/);
    expect(response.headers.get('content-security-policy')).toBeTruthy();
    expect(response.text).toContain('Inference Gateway');
    expect(response.text).not.toContain('/openapi.json');
  });
});
