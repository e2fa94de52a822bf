import { hasPermission, isOpenToManagementTokens, isPermission, type UnixMs } from '@gateway/base';
import { allEndpoints, type Endpoint } from '@gateway/dashboard-contract';
import { MAX_ATTEMPTS } from '@gateway/people';
import {
  createBrowser,
  createDashboardFixture,
  OPERATOR,
  type Browser,
  type DashboardFixture,
} from './testing/dashboard-fixture';

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

  describe.each(endpoints)('%s', (_line, endpoint) => {
    const { access: rule, method, path } = endpoint;

    /** What each role and access may do is the table of permissions.spec. */
    function isOpen(role: TokenRole, tokenAccess: (typeof ACCESSES)[number]): boolean {
      if (!isPermission(rule)) return rule === 'authenticated';
      const roles =
        role === 'operator'
          ? ({ memberRole: 'operator', organizationRole: undefined } as const)
          : ({ memberRole: 'member', organizationRole: role } as const);
      const use = method === 'GET' ? 'read' : 'change';
      return hasPermission(roles, rule) && isOpenToManagementTokens(rule, tokenAccess, use);
    }

    it('is open to the least powerful token with its access, and closed to the most powerful one without', async () => {
      const tokens = RANKS.flatMap((role) => ACCESSES.map((tokenAccess) => [role, tokenAccess] as const));
      const [opened] = tokens.filter((token) => isOpen(...token));
      if (opened) expect(await outcomeOf(opened.join(' '), endpoint, ownId)).toEqual(AUTHORIZED);
      const closed = ACCESSES.map((each) =>
        tokens.findLast((token) => token[1] === each && !isOpen(...token)),
      );
      for (const token of closed) {
        if (token) expect(await outcomeOf(token.join(' '), endpoint, ownId)).toEqual([403, 'forbidden']);
      }
    });

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

  it('invites people to a role that may do nothing that tokens may not, and removes people', async () => {
    const memberId = await fixture.person('removed@example.com', { [ownId]: 'member' });
    const script = scriptWith((await createToken(admin)).secret);
    const invite = async (role: string) =>
      (await script(`POST /api/organizations/${ownId}/invitations`, { email: 'new@example.com', role }))
        .status;
    expect([await invite('member'), await invite('developer')]).toEqual([201, 403]);
    expect((await script(`DELETE /api/organizations/${ownId}/members/${memberId}`)).status).toBe(204);
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
});

describe('a management token ends', () => {
  const endOf = async (secret: string) => {
    const { status, error } = await scriptWith(secret)('GET /api/organizations');
    return status === 200 ? 'active' : error.code;
  };

  it('with its revocation, at once', async () => {
    const { secret, token } = await createToken(admin);
    expect(await endOf(secret)).toBe('active');
    const revoke = `POST /api/organizations/${ownId}/management-tokens/${token.id}/revoke`;
    expect((await admin.request(revoke)).json).toMatchObject({ token: { state: 'revoked' } });
    expect(await endOf(secret)).toBe('management_token_not_valid');
    expect((await admin.request(revoke)).status).toBe(200);
  });

  it('with a limit per address if it is unknown', async () => {
    await fixture.pool.query('delete from sign_in_attempts');
    const guesses = Array.from({ length: MAX_ATTEMPTS.address + 1 }, () => endOf('mk-gw-guess'));
    const codes = await Promise.all(guesses);
    expect(codes.filter((code) => code === 'too_many_attempts')).toHaveLength(1);
  });
});
