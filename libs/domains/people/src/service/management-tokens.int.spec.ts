import { createHash } from 'node:crypto';
import { Cancellation } from '@gateway/base';
import { endpoints, parts } from '@gateway/dashboard-contract';
import { createTestClock } from '@gateway/test-support';
import { createInvitation } from '../core/people/invitations';
import { setOrganizationRole } from '../core/people/organization-members';
import { ATTEMPT_WINDOW_MS, MAX_ATTEMPTS } from '../core/sign-in/sign-in-throttle';
import { codeOf, TEST_CLIENT as client } from '../testing/people-calls';
import { createPeopleFixture, PASSWORD, type PeopleFixture } from '../testing/people-under-test';

const DAY_MS = 86_400_000;
const NOT_VALID = 'management_token_not_valid';
const { managementTokens, people: ofPeople } = endpoints;

const clock = createTestClock();
const dayAfter = (days: number) => new Date(clock.now() + days * DAY_MS).toISOString().slice(0, 10);
let fixture: PeopleFixture;
let ownId: string;
let foreignId: string;
let admin: { id: string; email: string };

beforeAll(async () => {
  fixture = await createPeopleFixture({ clock });
  [ownId, foreignId] = [await fixture.organization('Own'), await fixture.organization('Foreign')];
  admin = await fixture.person({ [ownId]: 'admin' });
});
afterAll(() => fixture.stop());

const DEFAULTS = () =>
  ({ name: 'deploy', access: 'read_write', role: 'admin', expires_on: dayAfter(30) }) as const;
/** Acts in a session of the person that was just confirmed, with an assertion that claims the role of an operator. */
async function sessionOf({ email }: { email: string }) {
  const { session_token: sessionToken } = await fixture.signIn(email, PASSWORD);
  const { member, session_id: sessionId } = await fixture.personOfSession(sessionToken);
  return fixture.endpointsAs({ id: member.id, label: email, sessionId });
}
async function create(fields: object = {}, organizationId = ownId, person = admin) {
  const own = await sessionOf(person);
  const of = { params: { organization_id: organizationId }, body: { ...DEFAULTS(), ...fields } };
  return own.call(managementTokens.create, of);
}
async function createPlatformToken(access: 'read' | 'read_write') {
  const { role: _role, ...body } = { ...DEFAULTS(), access };
  return fixture.endpoints.call(managementTokens.createPlatform, { body });
}

interface Use {
  readonly access?: string;
  readonly organizationId?: string | undefined;
  readonly changes?: boolean;
}
const authorize = (secret: string, { access = 'authenticated', organizationId, changes = false }: Use = {}) =>
  fixture.withoutPerson.call(parts.authorizeManagementToken, {
    body: { secret, access, organization_id: organizationId, changes },
    client,
  });
/** `active`, or why a request with the token is refused. */
const outcomeOf = async (secret: string, use?: Use) => (await codeOf(authorize(secret, use))) ?? 'active';
const revoke = async (tokenId: string, organizationId = ownId, person = admin) =>
  (await sessionOf(person)).call(managementTokens.revoke, {
    params: { organization_id: organizationId, token_id: tokenId },
    body: {},
  });
const listed = async (tokenId: string) => {
  const of = { params: { organization_id: ownId }, query: {} };
  const { data } = await fixture.endpoints.call(managementTokens.list, of);
  return data.find(({ id }) => id === tokenId);
};

describe('a management token', () => {
  it('is shown once and stored as a hash, and its creation is audited without it', async () => {
    const { secret, token } = await create();
    expect(secret).toMatch(/^mk-gw-[\w-]{43}$/);
    expect(JSON.stringify([await fixture.storedRows(), await listed(token.id)])).not.toContain(secret);
    const { rows } = await fixture.pool.query('select sha256 from management_tokens where id = $1', [
      token.id,
    ]);
    expect(rows).toEqual([{ sha256: createHash('sha256').update(secret).digest() }]);
    expect(await fixture.auditOf(token.id)).toMatchObject([
      {
        action: 'management_token.create',
        actor: admin.email,
        details: { role: 'admin', last4: secret.slice(-4) },
      },
    ]);
  });

  it.each([
    ['no expiry', { expires_on: undefined }, 'expires_on'],
    ['no day as expiry', { expires_on: '2027-02-30' }, 'expires_on'],
    ['an expiry in the past', { expires_on: dayAfter(-1) }, 'expires_on'],
    ['an expiry after more than 366 days', { expires_on: dayAfter(367) }, 'expires_on'],
    ['the role of an owner', { role: 'owner' }, 'role'],
    ['the role of a developer', { role: 'developer' }, 'role'],
    ['the role of an operator', { role: 'operator' }, 'role'],
    ['unknown access', { access: 'all' }, 'access'],
    ['no name', { name: ' ' }, 'name'],
  ])('cannot have %s', async (_what, fields, param) => {
    await expect(create(fields)).rejects.toMatchObject({ code: 'invalid', param });
  });

  it('is created in a confirmed session only', async () => {
    const own = await sessionOf(admin);
    clock.advance(5 * 60_000);
    const of = { params: { organization_id: ownId }, body: DEFAULTS() };
    expect(await codeOf(own.call(managementTokens.create, of))).toBe('confirmation_required');
  });

  it.each(['member', 'billing', 'developer'])(
    'cannot be created by a person with the role %s',
    async (role) => {
      const person = await fixture.person({ [ownId]: role });
      expect(await codeOf(create({}, ownId, person))).toBe('forbidden');
      expect(await codeOf(create({}, foreignId, person))).toBe('not_found');
    },
  );

  it('is one of at most 100 that work, per person', async () => {
    const person = await fixture.person({ [ownId]: 'admin' });
    const { token } = await create({}, ownId, person);
    await fixture.pool.query(
      `insert into management_tokens (id, organization_id, role, name, last4, access, sha256, created_by, created_at, expires_on)
       select id || '-' || number, organization_id, role, name, last4, access, sha256(number::text::bytea), created_by,
         created_at, expires_on
       from management_tokens, generate_series(1, 99) number where id = $1`,
      [token.id],
    );
    expect(await codeOf(create({}, ownId, person))).toBe('conflict');
    await revoke(token.id, ownId, person);
    expect(await codeOf(create({}, ownId, person))).toBeUndefined();
  });

  it('shows when it was last used, to the minute', async () => {
    const { secret, token } = await create();
    expect((await listed(token.id))?.last_used_at).toBeNull();
    await authorize(secret);
    const used = new Date(clock.now()).toISOString();
    clock.advance(59_000);
    await authorize(secret);
    expect((await listed(token.id))?.last_used_at).toBe(used);
    clock.advance(1_000);
    await authorize(secret);
    expect((await listed(token.id))?.last_used_at).toBe(new Date(clock.now()).toISOString());
  });

  it('is named with its creator, unless that is an operator', async () => {
    expect(await authorize((await create()).secret)).toMatchObject({
      label: `deploy (token of ${admin.email})`,
    });
    const { secret, token } = await create({}, ownId, { id: '', email: fixture.operator.label });
    expect(await authorize(secret)).toMatchObject({ label: 'deploy (token of an operator)' });
    expect(token.created_by).toBe(fixture.operator.label);
    const of = { params: { organization_id: ownId }, query: {} };
    const asAdmin = {
      id: admin.id,
      memberRole: 'member',
      organization: { id: ownId, role: 'admin' },
    } as const;
    const { data } = await fixture.endpointsAs(asAdmin).call(managementTokens.list, of);
    expect(data.find(({ id }) => id === token.id)?.created_by).toBeNull();
  });
});

describe('a request with a management token', () => {
  const own = () => ownId;
  const foreign = () => foreignId;
  const missing = () => 'org-missing';
  const none = () => undefined;

  it.each<[string, string, boolean, () => string | undefined, string]>([
    ['admin read', 'keys:read', false, own, 'active'],
    ['admin read', 'organization:limits', true, own, 'forbidden'],
    ['admin read_write', 'organization:limits', true, own, 'active'],
    ['admin read_write', 'keys:read', true, own, 'forbidden'],
    ['admin read_write', 'keys:manage', false, own, 'forbidden'],
    ['admin read_write', 'management_tokens:manage', false, own, 'forbidden'],
    ['admin read_write', 'platform:organizations', false, own, 'forbidden'],
    ['admin read_write', 'platform:organizations', false, none, 'forbidden'],
    ['member read_write', 'organization:limits', false, own, 'forbidden'],
    ['admin read_write', 'keys:read', false, foreign, 'not_found'],
    ['admin read_write', 'keys:read', false, missing, 'not_found'],
    ['admin read_write', 'keys:read', false, none, 'not_found'],
    ['admin read_write', 'authenticated', true, none, 'active'],
    ['admin read_write', 'signed_in', false, none, 'forbidden'],
    ['platform read', 'keys:read', false, foreign, 'active'],
    ['platform read', 'platform:credit', true, foreign, 'forbidden'],
    ['platform read_write', 'platform:credit', true, foreign, 'active'],
    ['platform read_write', 'platform:credit', true, missing, 'not_found'],
    ['platform read_write', 'platform:catalogue', false, none, 'forbidden'],
    ['platform read_write', 'content_log:manage', false, own, 'forbidden'],
  ])('of %s with access to %s; changes: %s', async (token, access, changes, organization, outcome) => {
    const [role, tokenAccess] = token.split(' ') as [string, 'read' | 'read_write'];
    const { secret } = await (role === 'platform'
      ? createPlatformToken(tokenAccess)
      : create({ role, access: tokenAccess }));
    expect(await outcomeOf(secret, { access, organizationId: organization(), changes })).toBe(outcome);
  });

  it('grants no role that may do what tokens may not', async () => {
    const { id: memberId } = await fixture.person({ [ownId]: 'member' });
    const { token } = await create();
    const { sessionId: _sessionId, memberRole: _role, ...actor } = fixture.operator;
    const { ports } = fixture;
    const script = { ...actor, id: token.id, tokenAccess: 'read_write' as const };
    for (const role of ['developer', 'admin', 'owner'] as const) {
      const wanted = { actor: script, organizationId: ownId, role };
      const invitation = { ...wanted, email: 'new@example.com', dashboardUrl: '' };
      expect(await createInvitation(ports, invitation)).toMatchObject({ reason: 'forbidden' });
      const change = setOrganizationRole(ports, { ...wanted, memberId }, new Cancellation());
      expect(await change).toMatchObject({ reason: 'forbidden' });
    }
  });
});

describe('a management token ends', () => {
  it('with its revocation, at once, which is audited once', async () => {
    const { secret, token } = await create();
    expect(await outcomeOf(secret)).toBe('active');
    expect((await revoke(token.id)).token.state).toBe('revoked');
    expect(await outcomeOf(secret)).toBe(NOT_VALID);
    expect(await codeOf(revoke(token.id))).toBeUndefined();
    const actions = (await fixture.auditOf(token.id)).map(({ action }) => action);
    expect(actions).toEqual(['management_token.create', 'management_token.revoke']);
  });

  it('only by people of its organization', async () => {
    const operator = { id: '', email: fixture.operator.label };
    const { token, secret } = await create({}, foreignId, operator);
    expect(await codeOf(revoke(token.id))).toBe('not_found');
    const platform = { params: { token_id: token.id }, body: {} };
    expect(await codeOf(fixture.endpoints.call(managementTokens.revokePlatform, platform))).toBe('not_found');
    expect(await outcomeOf(secret)).toBe('active');
  });

  it('after its last day, in UTC', async () => {
    const { secret, token } = await create({ expires_on: dayAfter(0) });
    const now = clock.now();
    clock.set(Date.parse(`${dayAfter(0)}T23:59:59.999Z`));
    expect(await outcomeOf(secret)).toBe('active');
    clock.advance(1);
    expect(await outcomeOf(secret)).toBe(NOT_VALID);
    expect((await listed(token.id))?.state).toBe('expired');
    clock.set(now);
  });

  const remove = async (memberId: string) =>
    fixture.endpoints.call(ofPeople.removeMember, {
      params: { organization_id: ownId, member_id: memberId },
      body: {},
    });
  const addAgain = (memberId: string) =>
    fixture.pool.query(`insert into memberships values ($1, $2, 'admin', now())`, [ownId, memberId]);
  const setRole = async (memberId: string, role: 'admin' | 'member') =>
    fixture.endpoints.call(ofPeople.setMemberRole, {
      params: { organization_id: ownId, member_id: memberId },
      body: { role },
    });
  const setDisabled = async (memberId: string, disabled: boolean) =>
    fixture.endpoints.call(ofPeople.setDisabled, { params: { member_id: memberId }, body: { disabled } });
  it.each<[string, (id: string) => Promise<unknown>, (id: string) => Promise<unknown>]>([
    ['leaves', remove, addAgain],
    ['loses the role', (id) => setRole(id, 'member'), (id) => setRole(id, 'admin')],
    ['is disabled', (id) => setDisabled(id, true), (id) => setDisabled(id, false)],
  ])('while the person who created it %s', async (_what, lose, regain) => {
    const person = await fixture.person({ [ownId]: 'admin' });
    const { secret, token } = await create({}, ownId, person);
    await lose(person.id);
    expect(await outcomeOf(secret)).toBe(NOT_VALID);
    expect((await listed(token.id))?.state).toBe('creator_without_access');
    await regain(person.id);
    expect(await outcomeOf(secret)).toBe('active');
  });

  it('of the platform with the role of the operator who created it', async () => {
    const { secret } = await createPlatformToken('read');
    const demote = (role: string) =>
      fixture.pool.query('update members set role = $2 where id = $1', [fixture.operator.id, role]);
    await demote('member');
    expect(await outcomeOf(secret)).toBe(NOT_VALID);
    await demote('operator');
    expect(await outcomeOf(secret)).toBe('active');
  });
});

it('an unknown token is limited per network and audited once, and delays no known one', async () => {
  const { secret } = await create();
  const { secret: expired, token } = await create();
  await revoke(token.id);
  const guesses = async (count: number) =>
    new Set(await Promise.all(Array.from({ length: count }, () => outcomeOf('mk-gw-guess'))));
  // A known one does not count.
  expect(await outcomeOf(expired)).toBe(NOT_VALID);
  expect([...(await guesses(MAX_ATTEMPTS.address))]).toEqual([NOT_VALID]);
  expect([...(await guesses(3))]).toEqual(['too_many_attempts']);
  expect([await outcomeOf(secret), await outcomeOf(expired)]).toEqual(['active', NOT_VALID]);
  expect(await fixture.auditOf('unknown')).toMatchObject([
    { details: { reason: 'unknown_management_tokens' } },
  ]);
  clock.advance(ATTEMPT_WINDOW_MS);
  expect(await outcomeOf('mk-gw-guess')).toBe(NOT_VALID);
});
