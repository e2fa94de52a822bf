import { createHash } from 'node:crypto';
import {
  createDashboardFixture,
  OPERATOR,
  type Browser,
  type DashboardFixture,
} from './testing/dashboard-fixture';

interface Key {
  readonly id: string;
  readonly owner: { readonly id: string; readonly email: string; readonly has_left: boolean } | null;
}
interface Created {
  readonly key: Key;
  readonly secret: string;
}

/** Changes of a key, by endpoint. */
const CHANGES = {
  update: ['PATCH', '', { name: 'renamed' }],
  rotate: ['POST', '/rotate', { previous_works_until: null }],
  endPreviousSecret: ['POST', '/end-previous-secret', {}],
  revoke: ['POST', '/revoke', {}],
} as const;

let fixture: DashboardFixture;
let organizationId: string;
const browsers = {} as Record<'operator' | 'admin' | 'developer' | 'billing' | 'member', Browser>;

beforeAll(async () => {
  fixture = await createDashboardFixture();
  browsers.operator = await fixture.signedIn(OPERATOR.email);
  const { json } = await browsers.operator.request('POST /api/organizations', { name: 'Own' });
  organizationId = (json as { organization: { id: string } }).organization.id;
  for (const role of ['admin', 'developer', 'billing', 'member'] as const) {
    await fixture.person(`${role}@example.com`, { [organizationId]: role });
    browsers[role] = await fixture.signedIn(`${role}@example.com`);
  }
});
afterAll(() => fixture.stop());

const keys = () => `/api/organizations/${organizationId}/keys`;

async function create(browser: Browser): Promise<Created> {
  const created = await browser.request(`POST ${keys()}`, { name: 'a key', scopes: ['chat'] });
  expect(created.status).toBe(201);
  return created.json as Created;
}

async function change(browser: Browser, keyId: string, name: keyof typeof CHANGES): Promise<number> {
  const [method, path, body] = CHANGES[name];
  return (await browser.request(`${method} ${keys()}/${keyId}${path}`, body)).status;
}

async function listed(browser: Browser, query: string): Promise<readonly Key[]> {
  return ((await browser.request(`GET ${keys()}?${query}`)).json as { data: Key[] }).data;
}

/** A developer with a session, and their key. */
async function developerWithKey(email: string) {
  const id = await fixture.person(email, { [organizationId]: 'developer' });
  const browser = await fixture.signedIn(email);
  return { id, browser, ...(await create(browser)) };
}

async function isValid(secret: string): Promise<boolean> {
  const keySha256 = createHash('sha256').update(secret).digest();
  const { outcome } = await fixture.auth.verifyKey({ keySha256 });
  return outcome?.$case === 'grant' && !outcome.value.revoked;
}

describe('a developer', () => {
  it('owns the keys that they create, and changes only these', async () => {
    const own = await create(browsers.developer);
    expect(own.key.owner).toMatchObject({ email: 'developer@example.com', has_left: false });
    const foreign = await create(browsers.admin);
    for (const name of Object.keys(CHANGES) as (keyof typeof CHANGES)[]) {
      expect([name, await change(browsers.developer, foreign.key.id, name)]).toEqual([name, 403]);
    }
    for (const name of Object.keys(CHANGES) as (keyof typeof CHANGES)[]) {
      const expected = name === 'rotate' ? 201 : 200;
      expect([name, await change(browsers.developer, own.key.id, name)]).toEqual([name, expected]);
    }
    expect(await change(browsers.developer, 'key-missing', 'revoke')).toBe(404);
    expect(await isValid(foreign.secret)).toBe(true);
  });

  it('finds their own keys', async () => {
    const own = await create(browsers.developer);
    const found = await listed(browsers.developer, 'owner=me&state=active');
    expect(found.map(({ id }) => id)).toContain(own.key.id);
    expect(new Set(found.map(({ owner }) => owner?.email))).toEqual(new Set(['developer@example.com']));
  });

  it('uses the playground', async () => {
    const line = `POST /api/organizations/${organizationId}/playground/key`;
    expect((await browsers.developer.request(line, {})).status).toBe(201);
    expect((await browsers.billing.request(line, {})).status).toBe(403);
  });

  it('transfers no key', async () => {
    const own = await create(browsers.developer);
    const target = { member_id: own.key.owner?.id ?? '' };
    const refused = await browsers.developer.request(`POST ${keys()}/${own.key.id}/transfer`, target);
    expect([refused.status, refused.error.code]).toEqual([403, 'forbidden']);
  });
});

it.each(['billing', 'member'] as const)('%s creates and changes no key', async (role) => {
  const { key } = await create(browsers.developer);
  expect((await browsers[role].request(`POST ${keys()}`, { name: 'a key', scopes: ['chat'] })).status).toBe(
    403,
  );
  for (const name of Object.keys(CHANGES) as (keyof typeof CHANGES)[]) {
    expect([name, await change(browsers[role], key.id, name)]).toEqual([name, 403]);
  }
});

it('an admin changes every key', async () => {
  const { key } = await create(browsers.developer);
  expect(await change(browsers.admin, key.id, 'update')).toBe(200);
  expect(await change(browsers.admin, key.id, 'revoke')).toBe(200);
});

describe.each([
  ['leaves', (id: string) => fixture.pool.query('delete from memberships where member_id = $1', [id])],
  [
    'is disabled',
    (id: string) => fixture.pool.query('update members set disabled_at = now() where id = $1', [id]),
  ],
])('the keys of a person who %s', (what, leave) => {
  it('still work, are listed, and continue with another owner', async () => {
    const { id, key, secret } = await developerWithKey(`${what.replace(' ', '-')}@example.com`);
    const left = async () => (await listed(browsers.admin, 'owner=left&state=active')).map((one) => one.id);
    expect(await left()).not.toContain(key.id);
    await leave(id);
    expect(await left()).toContain(key.id);
    expect(await isValid(secret)).toBe(true);

    const heir = await developerWithKey(`heir-of-${what.replace(' ', '-')}@example.com`);
    expect(await change(heir.browser, key.id, 'update')).toBe(403);
    const transferred = await browsers.admin.request(`POST ${keys()}/${key.id}/transfer`, {
      member_id: heir.id,
    });
    expect(transferred.json).toMatchObject({ key: { owner: { id: heir.id, has_left: false } } });
    expect(await left()).not.toContain(key.id);
    expect(await isValid(secret)).toBe(true);
    expect(await change(heir.browser, key.id, 'update')).toBe(200);
    const { rows } = await fixture.pool.query(
      `select details from audit_entries where action = 'key.transfer' and target = $1`,
      [key.id],
    );
    expect(rows).toEqual([
      { details: { name: 'a key', changed: { owner: { before: id, after: heir.id } } } },
    ]);
  });
});

it.each(['billing@example.com', 'member@example.com', 'elsewhere@example.com', 'missing'])(
  'a key is not transferred to %s',
  async (email) => {
    if (email.startsWith('elsewhere')) await fixture.person(email);
    const { rows } = await fixture.pool.query<{ id: string }>('select id from members where email = $1', [
      email,
    ]);
    const { key } = await create(browsers.admin);
    const refused = await browsers.admin.request(`POST ${keys()}/${key.id}/transfer`, {
      member_id: rows[0]?.id ?? 'mem-missing',
    });
    expect([refused.status, refused.error.param]).toEqual([400, 'member_id']);
  },
);

it('the owner of an operator’s key is not revealed to customers', async () => {
  const { key } = await create(browsers.operator);
  expect(key.owner?.email).toBe(OPERATOR.email);
  const seen = await browsers.admin.request(`GET ${keys()}/${key.id}`);
  expect((seen.json as { key: Key }).key.owner).toBeNull();
  expect(JSON.stringify(await listed(browsers.admin, 'state=active'))).not.toContain(OPERATOR.email);
});
