import { createHash } from 'node:crypto';
import { allEndpoints, permissions, type Endpoint, type Permission } from '@gateway/dashboard-contract';
import type { UnixMs } from '@gateway/base';
import { ATTEMPT_WINDOW_MS, MAX_ATTEMPTS } from '@gateway/people';
import {
  createBrowser,
  createDashboardFixture,
  OPERATOR,
  type Browser,
  type DashboardFixture,
} from './testing/dashboard-fixture';

/**
 * The lowest role of a token that reads, and that changes, with each permission, written independently of the code.
 * What is missing is closed to every token.
 */
const OPEN: Readonly<Partial<Record<Permission, { read: TokenRole; change?: TokenRole }>>> = {
  'organization:read': { read: 'member' },
  'organization:limits': { read: 'admin', change: 'admin' },
  'members:read': { read: 'member' },
  'members:manage': { read: 'admin', change: 'admin' },
  'keys:read': { read: 'member' },
  'usage:read': { read: 'member' },
  'credit:read': { read: 'member' },
  'credit:alerts': { read: 'billing', change: 'billing' },
  'audit:read': { read: 'admin' },
  'platform:organizations': { read: 'operator', change: 'operator' },
  'platform:credit': { read: 'operator', change: 'operator' },
  'platform:people': { read: 'operator' },
  'platform:audit': { read: 'operator' },
  'platform:models': { read: 'operator', change: 'operator' },
  'platform:settlement': { read: 'operator', change: 'operator' },
  'platform:notifications': { read: 'operator', change: 'operator' },
};
/** What no token may ever do. A new permission belongs here, or above. */
const CLOSED: readonly Permission[] = [
  'organization:targets',
  'organization:security',
  'content_log:manage',
  'members:manage_owners',
  'keys:manage_own',
  'keys:manage',
  'playground:use',
  'management_tokens:manage',
  'platform:single_sign_on',
  'platform:management_tokens',
  'platform:catalogue',
];
/** Each has what those before it have. */
const RANKS = ['member', 'billing', 'admin', 'operator'] as const;
type TokenRole = (typeof RANKS)[number];
const ACCESSES = ['read', 'read_write'] as const;

/** A field that no endpoint accepts: an authorized request is rejected as invalid and has no effect. */
const UNKNOWN_FIELD = 'no_such_field';
const AUTHORIZED = [400, 'invalid'];
const DAY_MS = 86_400_000;

const endpoints = allEndpoints().flatMap((endpoint) =>
  endpoint.access === 'anyone' ? [] : [[`${endpoint.method} ${endpoint.path}`, endpoint] as const],
);
const dayAfter = (now: number, days: number) => new Date(now + days * DAY_MS).toISOString().slice(0, 10);

let now = Date.now();
let fixture: DashboardFixture;
let ownId: string;
let foreignId: string;
let operator: Browser;
let admin: Browser;

beforeAll(async () => {
  fixture = await createDashboardFixture({}, { clock: { now: () => now as UnixMs } });
  operator = await fixture.signedIn(OPERATOR.email);
  ownId = await organization('Own');
  foreignId = await organization('Foreign');
  await fixture.person('admin@example.com', { [ownId]: 'admin' });
  admin = await fixture.signedIn('admin@example.com');
});
afterAll(() => fixture.stop());

async function organization(name: string): Promise<string> {
  const { json } = await operator.request('POST /api/organizations', { name });
  return (json as { organization: { id: string } }).organization.id;
}

interface Created {
  readonly secret: string;
  readonly token: { readonly id: string; readonly state: string; readonly created_by: string | null };
}

async function createToken(browser: Browser, fields: object = {}, organizationId = ownId): Promise<Created> {
  const wanted = { name: 'deploy', access: 'read_write', role: 'admin', expires_on: dayAfter(now, 30) };
  const created = await browser.request(`POST /api/organizations/${organizationId}/management-tokens`, {
    ...wanted,
    ...fields,
  });
  expect(created.status).toBe(201);
  return created.json as Created;
}

async function createPlatformToken(access: string): Promise<Created> {
  const wanted = { name: 'operate', access, expires_on: dayAfter(now, 30) };
  const created = await operator.request('POST /api/management-tokens', wanted);
  expect(created.status).toBe(201);
  return created.json as Created;
}

/** A script: it has no cookies. */
const scriptWith = (secret: string) => {
  const browser = createBrowser(fixture.api.port());
  return (line: string, body?: object, headers: Record<string, string> = {}) =>
    browser.request(line, body, { authorization: `Bearer ${secret}`, ...headers });
};
const tokensOf = async (browser: Browser, organizationId = ownId) =>
  (
    (await browser.request(`GET /api/organizations/${organizationId}/management-tokens`)).json as {
      data: (Created['token'] & { readonly last_used_at: string | null })[];
    }
  ).data;

describe('the routes that a management token opens', () => {
  const scripts: Record<string, ReturnType<typeof scriptWith>> = {};

  beforeAll(async () => {
    for (const access of ACCESSES) {
      for (const role of ['member', 'billing', 'admin'] as const) {
        scripts[`${role} ${access}`] = scriptWith((await createToken(admin, { role, access })).secret);
      }
      scripts[`operator ${access}`] = scriptWith((await createPlatformToken(access)).secret);
    }
  });

  async function outcomeOf(script: string, { method, path }: Endpoint, organizationId: string) {
    const concretePath = path.replace('{organization_id}', organizationId).replace(/\{\w+\}/g, 'some-id');
    const { status, error } = await (
      method === 'GET'
        ? scripts[script]?.(`GET ${concretePath}?${UNKNOWN_FIELD}=1`)
        : scripts[script]?.(`${method} ${concretePath}`, { [UNKNOWN_FIELD]: true })
    )!;
    return [status, error.code];
  }

  it('are decided for every permission', () => {
    expect([...Object.keys(OPEN), ...CLOSED].sort()).toEqual(Object.keys(permissions).sort());
  });

  describe.each(endpoints)('%s', (_line, endpoint) => {
    const { access: rule, method, path } = endpoint;

    function isOpen(role: TokenRole, access: (typeof ACCESSES)[number]): boolean {
      if (rule === 'authenticated') return true;
      const open = OPEN[rule as Permission];
      const lowest = method === 'GET' ? open?.read : open?.change;
      if (lowest === undefined || (method !== 'GET' && access === 'read')) return false;
      return RANKS.indexOf(role) >= RANKS.indexOf(lowest);
    }

    it.each(RANKS.flatMap((role) => ACCESSES.map((access) => [role, access] as const)))(
      'are those of the table: %s, %s',
      async (role, access) => {
        expect(await outcomeOf(`${role} ${access}`, endpoint, ownId)).toEqual(
          isOpen(role, access) ? AUTHORIZED : [403, 'forbidden'],
        );
      },
    );

    if (!path.includes('{organization_id}')) return;

    it('do not reveal whether another organization exists', async () => {
      const expected =
        rule.startsWith('platform:') || rule === 'signed_in' ? [403, 'forbidden'] : [404, 'not_found'];
      for (const organizationId of [foreignId, 'org-missing']) {
        expect(await outcomeOf('admin read_write', endpoint, organizationId)).toEqual(expected);
      }
    });
  });

  it('need a valid token', async () => {
    const unknown = scriptWith('mk-gw-unknown');
    for (const line of ['GET /api/organizations', `GET /api/organizations/${ownId}`, 'GET /api/nowhere']) {
      const { status, error } = await unknown(line);
      expect([line, status, error.code]).toEqual([line, 401, 'management_token_not_valid']);
    }
  });
});

describe('a management token', () => {
  it('is shown once and stored as a hash', async () => {
    const { secret, token } = await createToken(admin);
    expect(secret).toMatch(/^mk-gw-[\w-]{43}$/);
    const { rows } = await fixture.pool.query('select * from management_tokens where id = $1', [token.id]);
    expect(rows[0].sha256).toEqual(createHash('sha256').update(secret).digest());
    expect(JSON.stringify([rows, await tokensOf(admin)])).not.toContain(secret);
    const { rows: audit } = await fixture.pool.query('select * from audit_entries where target = $1', [
      token.id,
    ]);
    expect(audit).toMatchObject([{ action: 'management_token.create', actor_label: 'admin@example.com' }]);
    expect(JSON.stringify(audit)).not.toContain(secret);
  });

  it.each([
    ['no expiry', { expires_on: undefined }, 'expires_on'],
    ['an expiry in the past', { expires_on: dayAfter(now, -1) }, 'expires_on'],
    ['an expiry after more than 366 days', { expires_on: dayAfter(now, 367) }, 'expires_on'],
    ['the role of an owner', { role: 'owner' }, 'role'],
    ['the role of a developer', { role: 'developer' }, 'role'],
    ['the role of an operator', { role: 'operator' }, 'role'],
    ['unknown access', { access: 'all' }, 'access'],
    ['no name', { name: ' ' }, 'name'],
  ])('cannot have %s', async (_what, fields, param) => {
    const refused = await admin.request(`POST /api/organizations/${ownId}/management-tokens`, {
      ...{ name: 'deploy', access: 'read', role: 'admin', expires_on: dayAfter(now, 30) },
      ...fields,
    });
    expect([refused.status, refused.error.param]).toEqual([400, param]);
  });

  it('is created in a confirmed session only', async () => {
    await fixture.person('unattended@example.com', { [ownId]: 'admin' });
    const browser = await fixture.signedIn('unattended@example.com');
    now += 5 * 60_000;
    const body = { name: 'deploy', access: 'read', role: 'admin', expires_on: dayAfter(now, 30) };
    const line = `POST /api/organizations/${ownId}/management-tokens`;
    expect((await browser.request(line, body)).error.code).toBe('confirmation_required');
    await browser.request('POST /api/session/confirm', { password: OPERATOR.password });
    expect((await browser.request(line, body)).status).toBe(201);
    await admin.request('POST /api/session/confirm', { password: OPERATOR.password });
    await operator.request('POST /api/session/confirm', { password: OPERATOR.password });
  });

  it('cannot publish, roll back, test or store secrets, for which people confirm their session', async () => {
    const sensitiveCatalogue = allEndpoints().filter(({ access }) => access === 'platform:catalogue');
    expect(sensitiveCatalogue).toHaveLength(5);
    now += 5 * 60_000;
    for (const { method, path } of sensitiveCatalogue) {
      const refused = await operator.request(`${method} ${path.replace(/\{\w+\}/g, 'x')}`, {});
      expect([path, refused.error.code]).toEqual([path, 'confirmation_required']);
    }
    await admin.request('POST /api/session/confirm', { password: OPERATOR.password });
    await operator.request('POST /api/session/confirm', { password: OPERATOR.password });
    for (const { method, path } of sensitiveCatalogue) {
      const line = `${method} ${path.replace(/\{\w+\}/g, 'x')}`;
      expect((await operator.request(line, { no_such_field: 1 })).error.code).toBe('invalid');
    }
  });

  it('needs neither a cookie nor the dashboard’s origin, and a cookie with it does not count', async () => {
    const { secret } = await createToken(admin, { access: 'read' });
    const script = scriptWith(secret);
    const limits = `PUT /api/organizations/${ownId}/limits`;
    const elsewhere = { origin: 'https://elsewhere.example' };
    expect((await script(limits, {}, elsewhere)).error.code).toBe('forbidden');
    const withToken = { authorization: `Bearer ${secret}` };
    expect((await operator.request(limits, {}, withToken)).error.code).toBe('forbidden');
    expect((await operator.request('GET /api/session', undefined, withToken)).status).toBe(403);
    // Credentials of a proxy are no management token.
    const basic = { authorization: 'Basic cHJveHk6cHJveHk=' };
    expect((await operator.request('GET /api/session', undefined, basic)).status).toBe(200);
  });

  it('changes things as itself, and the audit log names it and its creator', async () => {
    const { secret, token } = await createToken(admin);
    const limits = {
      ...{ requests_per_minute: 60, tokens_per_minute: null, daily_budget_usd: null, concurrency: null },
      ...{ weekly_budget_usd: null, monthly_budget_usd: null, total_budget_usd: null },
      ...{ max_output_tokens: null, multiple_completions: false },
    };
    expect((await scriptWith(secret)(`PUT /api/organizations/${ownId}/limits`, limits)).status).toBe(200);
    const { json } = await admin.request(`GET /api/organizations/${ownId}/audit?actor_id=${token.id}`);
    expect((json as { data: object[] }).data).toMatchObject([
      {
        action: 'organization.set_limits',
        actor: { id: token.id, label: 'deploy (token of admin@example.com)' },
      },
    ]);
  });

  it('of an operator does not reveal them to the organization', async () => {
    const { secret, token } = await createToken(operator);
    expect(token.created_by).toBe(OPERATOR.email);
    expect((await tokensOf(admin)).find(({ id }) => id === token.id)?.created_by).toBeNull();
    const invited = { email: 'reader@example.com', role: 'member' };
    await scriptWith(secret)(`POST /api/organizations/${ownId}/invitations`, invited);
    const { json } = await admin.request(`GET /api/organizations/${ownId}/audit?actor_id=${token.id}`);
    expect(JSON.stringify(json)).toContain('deploy (token of an operator)');
    expect(JSON.stringify(json)).not.toContain(OPERATOR.email);
  });

  it('grants no role that may do what tokens may not', async () => {
    const memberId = await fixture.person('promoted@example.com', { [ownId]: 'member' });
    const script = scriptWith((await createToken(admin)).secret);
    const role = `PUT /api/organizations/${ownId}/members/${memberId}/role`;
    expect((await script(role, { role: 'admin' })).error.code).toBe('forbidden');
    const invite = `POST /api/organizations/${ownId}/invitations`;
    for (const granted of ['developer', 'admin', 'owner']) {
      const refused = await script(invite, { email: 'new@example.com', role: granted });
      expect([refused.status, refused.error.code]).toEqual([403, 'forbidden']);
    }
    expect((await script(invite, { email: 'new@example.com', role: 'member' })).status).toBe(201);
    const remove = `DELETE /api/organizations/${ownId}/members/${memberId}`;
    expect((await script(remove)).status).toBe(204);
  });

  it('lists the organization that it belongs to, and of the platform all', async () => {
    const idsFor = async (secret: string) =>
      ((await scriptWith(secret)('GET /api/organizations')).json as { data: { id: string }[] }).data.map(
        ({ id }) => id,
      );
    expect(await idsFor((await createToken(admin, { role: 'member' })).secret)).toEqual([ownId]);
    expect((await idsFor((await createPlatformToken('read')).secret)).sort()).toEqual(
      [ownId, foreignId].sort(),
    );
  });

  it('shows when it was last used', async () => {
    const { secret, token } = await createToken(admin);
    const lastUsed = async () => (await tokensOf(admin)).find(({ id }) => id === token.id)?.last_used_at;
    expect(await lastUsed()).toBeNull();
    await scriptWith(secret)('GET /api/organizations');
    expect(await lastUsed()).toBe(new Date(now).toISOString());
  });
});

describe('a management token ends', () => {
  const endOf = async (secret: string) => {
    const { status, error } = await scriptWith(secret)('GET /api/organizations');
    return status === 200 ? 'active' : error.code;
  };
  const stateOf = async (id: string) => (await tokensOf(operator)).find((token) => token.id === id)?.state;

  it('with its revocation, at once', async () => {
    const { secret, token } = await createToken(admin);
    expect(await endOf(secret)).toBe('active');
    const revoke = `POST /api/organizations/${ownId}/management-tokens/${token.id}/revoke`;
    expect((await admin.request(revoke)).json).toMatchObject({ token: { state: 'revoked' } });
    expect(await endOf(secret)).toBe('management_token_not_valid');
    expect((await admin.request(revoke)).status).toBe(200);
    const { rows } = await fixture.pool.query(
      `select 1 from audit_entries where action = 'management_token.revoke' and target = $1`,
      [token.id],
    );
    expect(rows).toHaveLength(1);
  });

  it('only by people of its organization', async () => {
    const { token, secret } = await createToken(operator, {}, foreignId);
    const revoke = `POST /api/organizations/${ownId}/management-tokens/${token.id}/revoke`;
    expect((await admin.request(revoke)).status).toBe(404);
    const platform = `POST /api/management-tokens/${token.id}/revoke`;
    expect((await operator.request(platform)).status).toBe(404);
    expect(await endOf(secret)).toBe('active');
  });

  it('after its last day', async () => {
    const { secret, token } = await createToken(admin, { expires_on: dayAfter(now, 0) });
    expect(await endOf(secret)).toBe('active');
    const before = now;
    now += DAY_MS;
    try {
      expect(await endOf(secret)).toBe('management_token_not_valid');
    } finally {
      now = before;
    }
    expect(token.state).toBe('active');
  });

  it.each([
    [
      'leaves',
      `delete from memberships where member_id = $1`,
      `insert into memberships values ($2, $1, 'admin', now())`,
    ],
    [
      'loses the role',
      `update memberships set role = 'member' where member_id = $1`,
      `update memberships set role = 'admin' where member_id = $1`,
    ],
    [
      'is disabled',
      `update members set disabled_at = now() where id = $1`,
      `update members set disabled_at = null where id = $1`,
    ],
  ])('while the person who created it %s', async (what, leave, returnAgain) => {
    const email = `${what.replaceAll(' ', '-')}@example.com`;
    const memberId = await fixture.person(email, { [ownId]: 'admin' });
    const { secret, token } = await createToken(await fixture.signedIn(email));
    expect(await endOf(secret)).toBe('active');
    await fixture.pool.query(leave, [memberId]);
    expect(await endOf(secret)).toBe('management_token_not_valid');
    expect(await stateOf(token.id)).toBe('creator_without_access');
    await fixture.pool.query(returnAgain, returnAgain.includes('$2') ? [memberId, ownId] : [memberId]);
    expect(await endOf(secret)).toBe('active');
  });

  it('if it is unknown; beyond a limit per address with an error of its own', async () => {
    const { secret } = await createToken(admin);
    const { secret: expired } = await createToken(admin, { expires_on: dayAfter(now, 0) });
    await fixture.pool.query(`update management_tokens set expires_on = '2020-01-01' where last4 = $1`, [
      expired.slice(-4),
    ]);
    const attempts = async (tried: string, count: number) => {
      const codes = new Set<string | undefined>();
      for (let sent = 0; sent < count; sent += 1) codes.add(await endOf(tried));
      return [...codes];
    };
    await fixture.pool.query('delete from sign_in_attempts');
    // A known one does not count.
    expect(await endOf(expired)).toBe('management_token_not_valid');
    expect(await attempts('mk-gw-guess', MAX_ATTEMPTS.address)).toEqual(['management_token_not_valid']);
    expect(await attempts('mk-gw-guess', 3)).toEqual(['too_many_attempts']);
    // An unknown token delays no other client of its network.
    expect(await endOf(secret)).toBe('active');
    expect(await endOf(expired)).toBe('management_token_not_valid');
    const { rows } = await fixture.pool.query(
      `select 1 from audit_entries where action = 'session.refuse' and details->>'reason' = 'unknown_management_tokens'`,
    );
    expect(rows).toHaveLength(1);
    now += ATTEMPT_WINDOW_MS;
    expect(await endOf('mk-gw-guess')).toBe('management_token_not_valid');
  });
});
