import { createHash } from 'node:crypto';
import { createDashboardFixture, OPERATOR, type DashboardFixture } from './testing/dashboard-fixture';

describe('the dashboard API with the real auth domain', () => {
  let fixture: DashboardFixture;
  let cookie = '';

  beforeAll(async () => {
    fixture = await createDashboardFixture();
    const response = await send('POST', '/api/session', OPERATOR);
    expect(response.status).toBe(200);
    cookie = response.cookie.split(';')[0] ?? '';
  });
  afterAll(() => fixture.stop());

  async function send(method: string, path: string, body?: object, headers: Record<string, string> = {}) {
    const response = await fetch(`http://127.0.0.1:${fixture.api.port()}${path}`, {
      method,
      headers: { ...(method === 'GET' ? {} : { 'content-type': 'application/json' }), cookie, ...headers },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    const text = await response.text();
    return {
      status: response.status,
      cookie: response.headers.get('set-cookie') ?? '',
      json: (text === '' ? {} : JSON.parse(text)) as {
        organization: {
          id: string;
          suspended: boolean;
          limits: Record<string, unknown>;
          ceilings: Record<string, unknown>;
        };
        key: { id: string; name: string; revoked_at: string | null };
        secret: string;
        balance: Record<string, string>;
        credit: { id: string };
        data: { id: string; action: string; outcome: string; actor: { label: string } }[];
        next_page_token: string | null;
        error: { code: string; param?: string; message: string };
      },
    };
  }

  async function organization(): Promise<string> {
    const created = await send('POST', '/api/organizations', { name: 'Acme' });
    expect(created.status).toBe(201);
    return `/api/organizations/${created.json.organization.id}`;
  }

  const verify = async (secret: string) => {
    const keySha256 = createHash('sha256').update(secret).digest();
    const { outcome } = await fixture.auth.verifyKey({ keySha256 });
    return outcome?.$case === 'grant' ? outcome.value : undefined;
  };

  it('creates, updates and revokes a key, which works from its creation until its revocation', async () => {
    const path = await organization();
    const created = await send('POST', `${path}/keys`, { name: 'first', scopes: ['chat'], concurrency: 2 });
    expect(created.status).toBe(201);
    const { key, secret } = created.json;
    expect(await verify(secret)).toMatchObject({
      keyId: key.id,
      revoked: false,
      keyLimits: { concurrency: 2 },
    });

    const changed = await send('PATCH', `${path}/keys/${key.id}`, {
      concurrency: null,
      ip_allowlist: ['10.1.1.1/8'],
    });
    expect(changed.json.key).toMatchObject({
      name: 'first',
      concurrency: null,
      ip_allowlist: ['10.0.0.0/8'],
    });

    const revoked = await send('POST', `${path}/keys/${key.id}/revoke`);
    expect(revoked.json.key.revoked_at).not.toBeNull();
    expect(await verify(secret)).toMatchObject({ revoked: true });
    expect((await send('GET', `${path}/keys`)).json.data).toHaveLength(1);
    expect((await send('PATCH', `${path}/keys/${key.id}`, { name: 'x' })).json.error.code).toBe('conflict');
  });

  it("rejects a limit above its ceiling, and a key's above the organization's, with a clear message", async () => {
    const path = await organization();
    const limits = {
      requests_per_minute: 10,
      tokens_per_minute: null,
      daily_budget_usd: '5.00',
      weekly_budget_usd: null,
      monthly_budget_usd: null,
      total_budget_usd: null,
      concurrency: null,
      max_output_tokens: null,
      multiple_completions: true,
    };
    const refusedLimits = await send('PUT', `${path}/limits`, limits);
    expect(refusedLimits.json.error).toMatchObject({ code: 'invalid', param: 'multiple_completions' });
    await send('PUT', `${path}/ceilings`, { ...limits, daily_budget_usd: '6' });
    const tooRich = await send('PUT', `${path}/limits`, { ...limits, daily_budget_usd: '6.01' });
    expect(tooRich.json.error).toMatchObject({
      param: 'daily_budget_usd',
      message: 'The daily budget must be at or below the ceiling, which is 6 US dollars.',
    });
    const set = await send('PUT', `${path}/limits`, limits);
    expect(set.json.organization.ceilings).toMatchObject({ requests_per_minute: 10, daily_budget_usd: '6' });
    expect(set.json.organization.limits).toEqual({ ...limits, daily_budget_usd: '5', budgets: [] });
    const refused = await send('POST', `${path}/keys`, {
      name: 'k',
      scopes: ['chat'],
      daily_budget_usd: '5.01',
    });
    expect(refused.status).toBe(400);
    expect(refused.json.error).toMatchObject({
      code: 'invalid',
      param: 'daily_budget_usd',
      message: "The daily budget must be at or below the organization's, which is 5 US dollars.",
    });
  });

  it('exports keys and the audit log over several pages, filtered, and no secret', async () => {
    const path = await organization();
    const names = Array.from({ length: 201 }, (_, index) => `key ${index}`);
    const secrets: string[] = [];
    for (const name of names) {
      secrets.push((await send('POST', `${path}/keys`, { name, scopes: ['chat'] })).json.secret);
    }
    const rowsOf = async (target: string) => {
      const response = await fetch(`http://127.0.0.1:${fixture.api.port()}${target}`, {
        headers: { cookie },
      });
      expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8');
      const text = await response.text();
      expect(secrets.filter((secret) => text.includes(secret))).toEqual([]);
      return text.trimEnd().split('\r\n').slice(1);
    };
    const keys = await rowsOf(`${path}/keys.csv`);
    expect(new Set(keys.map((row) => row.split(',')[1])).size).toBe(names.length);
    expect(await rowsOf(`${path}/keys.csv?search=key%20200`)).toHaveLength(1);
    expect(await rowsOf(`${path}/audit.csv?action=key.create`)).toHaveLength(names.length);
    const [created] = await rowsOf('/api/audit.csv?action=organization.create');
    expect(created).toContain(OPERATOR.email);
  });

  it('suspends and resumes an organization for all its keys', async () => {
    const path = await organization();
    const { json } = await send('POST', `${path}/keys`, { name: 'k', scopes: ['chat'] });
    await send('POST', `${path}/suspend`, { reason: 'unpaid' });
    expect(await verify(json.secret)).toMatchObject({ organizationSuspended: true });
    await send('POST', `${path}/resume`);
    expect(await verify(json.secret)).toMatchObject({ organizationSuspended: false });
  });

  it('adds credit once per Idempotency-Key', async () => {
    const path = await organization();
    const headers = { 'idempotency-key': 'top-up-1' };
    const first = await send('POST', `${path}/credits`, { amount_usd: '10.00', note: 'hello' }, headers);
    const again = await send('POST', `${path}/credits`, { amount_usd: '10.00', note: 'hello' }, headers);
    expect(again.json.credit).toEqual(first.json.credit);
    expect((await send('GET', `${path}/balance`)).json.balance['available_usd']).toBe('10');
  });

  it('pages through the complete audit log', async () => {
    await organization();
    const seen = new Set<string>();
    let token: string | null = '';
    while (token !== null) {
      const { json, status } = await send('GET', `/api/audit?page_size=3&page_token=${token}`);
      expect(status).toBe(200);
      for (const { id } of json.data) expect(seen.has(id)).toBe(false);
      for (const { id } of json.data) seen.add(id);
      token = json.next_page_token;
    }
    expect(seen.size).toBeGreaterThan(3);
    expect((await send('GET', '/api/audit?page_token=%00')).json.error).toMatchObject({
      code: 'invalid',
      param: 'page_token',
    });
  });

  it('never returns 500 for unusual ids and names', async () => {
    const path = await organization();
    for (const odd of ['%00', '%27%3B--', 'x'.repeat(500), '%F0%9F%98%80', '..%2f..']) {
      for (const where of [
        `/api/organizations/${odd}`,
        `${path}/keys/${odd}`,
        `/api/organizations/${odd}/keys`,
      ]) {
        expect((await send('GET', where)).status).toBe(404);
      }
    }
    for (const name of ['', '\u0000', 'x'.repeat(101), ' \t ']) {
      const response = await send('POST', '/api/organizations', { name });
      expect([response.status, response.json.error.param]).toEqual([400, 'name']);
    }
  });

  it('deletes the session on sign-out', async () => {
    // From another browser, without a cookie.
    const other = await send('POST', '/api/session', OPERATOR, { cookie: '' });
    const headers = { cookie: other.cookie.split(';')[0] ?? '' };
    expect((await send('DELETE', '/api/session', undefined, headers)).status).toBe(204);
    expect((await send('GET', '/api/session', undefined, headers)).status).toBe(401);
    expect((await send('GET', '/api/session')).status).toBe(200);
  });
});
