import { endpoints, parts } from '@gateway/dashboard-contract';
import { createTestClock } from '@gateway/test-support';
import type { IdentityProvider, IdentityResult } from '../core/single-sign-on/ports';
import { codeOf, TEST_CLIENT as client } from '../testing/people-calls';
import { createPeopleFixture, PASSWORD, type PeopleFixture } from '../testing/people-under-test';

const ISSUER = 'https://idp.example';
const MINUTE = 60_000;
const { account, people: ofPeople } = endpoints;

/** The secrets that a sign-in gives to the provider. */
type Secrets = Parameters<IdentityProvider['finish']>[0];

let fixture: PeopleFixture;
let organizationId: string;
const clock = createTestClock();
const provider = {
  label: 'Acme login',
  isUnavailable: false,
  result: undefined as IdentityResult | undefined,
  started: undefined as Omit<Secrets, 'callbackQuery'> | undefined,
  finished: [] as Secrets[],
  async start(secrets: Omit<Secrets, 'callbackQuery'>) {
    if (provider.isUnavailable) return { kind: 'unavailable' as const, detail: 'down' };
    provider.started = secrets;
    return { kind: 'started' as const, authorizationUrl: `${ISSUER}/?state=${secrets.state}` };
  },
  async finish(secrets: Secrets) {
    provider.finished.push(secrets);
    return provider.result ?? { kind: 'failed' as const, detail: 'no result' };
  },
};

beforeAll(async () => {
  fixture = await createPeopleFixture({ clock, identityProvider: provider });
  organizationId = await fixture.organization();
  await mapDomain('Example.COM', 'admin');
});
afterAll(() => fixture.stop());
beforeEach(async () => {
  provider.finished = [];
  // The tests exceed the limit of attempts per address.
  await fixture.pool.query('delete from sign_in_attempts');
});

const mapDomain = (domain: string, role: 'admin' | 'member') =>
  fixture.endpoints.call(ofPeople.mapDomain, {
    params: { organization_id: organizationId, domain },
    body: { role },
  });

async function start(sessionToken?: string, returnTo = '/') {
  const body = { return_to: returnTo, session_token: sessionToken };
  const started = await fixture.withoutPerson.call(parts.startOidc, { body, client });
  if (started.kind !== 'started') throw new Error(`refused: ${started.error}`);
  return started;
}
const finish = ({ state, browser_token }: { state: string; browser_token: string }) =>
  fixture.withoutPerson.call(parts.finishOidc, {
    body: { callback_query: `?state=${state}&code=abc`, browser_token },
    client,
  });
const identified = (email: string | undefined, subject = email ?? 'without-email', emailVerified = true) => ({
  kind: 'identified' as const,
  ...{ issuer: ISSUER, subject, emailVerified },
  ...(email !== undefined && { email }),
});

async function signOn(email: string, subject = email, sessionToken?: string) {
  const started = await start(sessionToken);
  provider.result = identified(email, subject);
  return finish(started);
}
async function signedOn(email: string, subject?: string, sessionToken?: string): Promise<string> {
  const outcome = await signOn(email, subject, sessionToken);
  if (outcome.kind !== 'signed_on') throw new Error(`refused: ${outcome.error}`);
  return outcome.session_token;
}
const memberOf = async (sessionToken: string) => (await fixture.personOfSession(sessionToken)).member;

/** Runs the action once, before the next call of a port such as "identities.find". */
function beforeCall<T>(call: string, action: () => Promise<T>): Promise<T> {
  const [name, method] = call.split('.') as [keyof PeopleFixture['ports'], string];
  const port = fixture.ports[name] as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>;
  const original = port[method];
  if (!original) throw new Error(`no port ${call}`);
  return new Promise((resolve, reject) => {
    port[method] = async (...args) => {
      port[method] = original;
      await action().then(resolve, reject);
      return original(...args);
    };
  });
}

describe('a sign-in at the identity provider', () => {
  it('creates a member, their membership and a session, each with an audit entry', async () => {
    const { member, session_id: sessionId } = await fixture.personOfSession(
      await signedOn('Ada@Example.com', 'subject-of-ada'),
    );
    expect(member).toMatchObject({ email: 'ada@example.com', role: 'member' });
    expect(await fixture.ports.memberships.listOf(member.id)).toMatchObject([
      { organization: { id: organizationId }, role: 'admin' },
    ]);
    const { rows } = await fixture.pool.query<{ signed_in_by: string }>(
      'select signed_in_by from sessions where id = $1',
      [sessionId],
    );
    expect(rows).toEqual([{ signed_in_by: 'oidc' }]);
    expect((await fixture.auditOf(member.id)).map(({ action }) => action).sort()).toEqual([
      'member.create',
      'member.link_identity',
      'membership.create',
      'session.create',
    ]);
  });

  it('identifies a member by the subject, even after a change of email', async () => {
    const first = await memberOf(await signedOn('grace@example.com', 'grace'));
    expect(await memberOf(await signedOn('hopper@example.com', 'grace'))).toEqual(first);
  });

  it('links an existing account by its verified email without its second factor, which stays', async () => {
    const { id, email } = await fixture.person({ [organizationId]: 'owner' });
    const enable = 'update members set totp_confirmed_at = now(), totp_secret = $2 where id = $1';
    await fixture.pool.query(enable, [id, 'GEZDGNBVGY3TQOJQ']);
    expect((await memberOf(await signedOn(email))).id).toBe(id);
    expect(await fixture.ports.memberships.listOf(id)).toMatchObject([{ role: 'owner' }]);
    expect(await codeOf(fixture.signIn(email, PASSWORD))).toBe('second_factor_required');
  });

  it('does not add a person again whom the organization removed', async () => {
    const { id } = await memberOf(await signedOn('left@example.com'));
    const params = { organization_id: organizationId, member_id: id };
    await fixture.endpoints.call(ofPeople.removeMember, { params, body: {} });
    expect((await memberOf(await signedOn('left@example.com'))).id).toBe(id);
    expect(await fixture.ports.memberships.listOf(id)).toEqual([]);
  });

  it('creates one member for three concurrent first sign-ins', async () => {
    const flows = [await start(), await start(), await start()];
    provider.result = identified('twice@example.com');
    const outcomes = await Promise.all(flows.map(finish));
    const members = outcomes.map(async (one) =>
      one.kind === 'signed_on' ? (await memberOf(one.session_token)).id : one.error,
    );
    expect(new Set(await Promise.all(members)).size).toBe(1);
  });

  it.each([
    ['a new person', 'identities.find'],
    ['a new person', 'members.findByEmail'],
    ['a new person', 'identities.link'],
    ['an existing account', 'identities.find'],
    ['an existing account', 'members.findByEmail'],
    ['an existing account', 'identities.subjectOf'],
    ['an existing account', 'memberships.find'],
    ['an existing account', 'identities.link'],
  ])('of %s succeeds if another one of theirs ends before its %s', async (person, call) => {
    const email = `${person} ${call}@example.com`.toLowerCase().replaceAll(' ', '-');
    if (person === 'an existing account') await fixture.person({}, email);
    const [flow, overtaking] = [await start(), await start()];
    provider.result = identified(email);
    const outcomes = [beforeCall(call, () => finish(overtaking)), finish(flow)];
    const emails = (await Promise.all(outcomes)).map(async (one) =>
      one.kind === 'signed_on' ? (await memberOf(one.session_token)).email : one.error,
    );
    expect(await Promise.all(emails)).toEqual([email, email]);
  });

  it("ends the session that the browser had, and no other's", async () => {
    const [before, elsewhere] = [
      await signedOn('changing@example.com'),
      await signedOn('changing@example.com'),
    ];
    const after = await signedOn('changing@example.com', undefined, before);
    const active = [before, elsewhere, after].map((token) => fixture.isSignedIn(token));
    expect(await Promise.all(active)).toEqual([false, true, true]);
  });
});

describe('a callback', () => {
  it('is verified against secrets that are not stored', async () => {
    const started = await start(undefined, '/account');
    const stored = JSON.stringify(await fixture.storedRows());
    await finish(started);
    const { callbackQuery, ...verified } = provider.finished[0] as Secrets;
    expect(verified).toEqual(provider.started);
    expect(callbackQuery).toBe(`?state=${started.state}&code=abc`);
    const secrets = [verified.state, verified.nonce, verified.codeVerifier, started.browser_token];
    expect(new Set(secrets).size).toBe(4);
    for (const secret of secrets) expect(stored).not.toContain(secret);
  });

  it.each<[string, (flow: Awaited<ReturnType<typeof start>>) => Promise<unknown>]>([
    ['of another browser', async (flow) => finish({ ...flow, browser_token: (await start()).browser_token })],
    ['with the state of another sign-in', async (flow) => finish({ ...flow, state: (await start()).state })],
    ['without a state', (flow) => finish({ ...flow, state: '' })],
    ['after ten minutes', async (flow) => (clock.advance(10 * MINUTE), finish(flow))],
  ])('%s is refused before the provider is called', async (_what, call) => {
    const flow = await start();
    provider.result = identified('victim@example.com');
    expect(await call(flow)).toMatchObject({ kind: 'refused', error: 'oidc_state_invalid' });
    expect(provider.finished).toEqual([]);
  });

  it('of another browser does not use up the sign-in', async () => {
    const flow = await start();
    provider.result = identified('patient@example.com');
    await finish({ ...flow, browser_token: 'of another browser' });
    expect(await finish(flow)).toMatchObject({ kind: 'signed_on' });
  });

  it('opens one session if it is sent several times at once', async () => {
    const flow = await start();
    provider.result = identified('once@example.com');
    const outcomes = await Promise.all([1, 2, 3].map(() => finish(flow)));
    expect(outcomes.map(({ kind }) => kind).sort()).toEqual(['refused', 'refused', 'signed_on']);
  });

  it('is limited per network, as are starts', async () => {
    for (let attempts = 0; attempts < 60; attempts += 1) await finish({ state: '', browser_token: 'x' });
    const body = { return_to: '/', session_token: undefined };
    const started = fixture.withoutPerson.call(parts.startOidc, { body, client });
    expect(await started).toMatchObject({ kind: 'refused', error: 'too_many_attempts' });
  });
});

describe('a refused sign-in stores nothing but the audit entry of a refused person', () => {
  /** The outcome, and the audit entry if it is the only row that was added. */
  async function refusalOf(result: IdentityResult) {
    const flow = await start();
    const before = await fixture.storedRows();
    provider.result = result;
    const outcome = await finish(flow);
    const { audit_entries: audits, oidc_flows: _flows, ...after } = await fixture.storedRows();
    expect(before).toMatchObject(after);
    const added = audits?.split('\n').filter((row) => !before['audit_entries']?.includes(row)) ?? [];
    return [outcome.kind === 'refused' ? outcome.error : outcome.kind, added] as const;
  }
  const entry = (label: string, reason: string) => [
    expect.stringMatching(new RegExp(`,${label},.*session\\.refuse.*""reason"": ""${reason}""`)),
  ];

  it.each<[string, IdentityResult, string, string]>([
    [
      'an unverified email',
      identified('eve@example.com', 'eve', false),
      'oidc_email_not_verified',
      'email_not_verified',
    ],
    ['no email', identified(undefined), 'oidc_email_not_verified', 'email_not_verified'],
    ['an invalid email', identified('eve'), 'oidc_email_not_verified', 'email_not_verified'],
    [
      'two addresses',
      identified('a@example.com@elsewhere.example'),
      'oidc_email_not_verified',
      'email_not_verified',
    ],
    ['an unmapped domain', identified('eve@elsewhere.example'), 'oidc_no_organization', 'domain_not_mapped'],
    ['a subdomain', identified('eve@sub.example.com'), 'oidc_no_organization', 'domain_not_mapped'],
    ['a longer domain', identified('eve@notexample.com'), 'oidc_no_organization', 'domain_not_mapped'],
    ['a look-alike domain', identified('eve@exаmple.com'), 'oidc_no_organization', 'domain_not_mapped'],
  ])('%s', async (_what, result, error, reason) => {
    expect(await refusalOf(result)).toEqual([error, entry('unknown', reason)]);
  });

  it.each<[IdentityResult['kind'], string]>([
    ['denied', 'oidc_denied'],
    ['failed', 'oidc_failed'],
    ['unavailable', 'oidc_unavailable'],
  ])('by the provider: %s', async (kind, error) => {
    expect(await refusalOf({ kind, detail: '' } as IdentityResult)).toEqual([error, []]);
  });

  it('an operator without a mapped domain', async () => {
    const { label } = fixture.operator;
    await codeOf(
      fixture.endpoints.call(ofPeople.unmapDomain, {
        params: { organization_id: organizationId, domain: 'example.com' },
        body: {},
      }),
    );
    expect(await refusalOf(identified(label))).toEqual([
      'oidc_no_organization',
      entry('unknown', 'domain_not_mapped'),
    ]);
    await mapDomain('example.com', 'admin');
  });

  it('another identity with the email of a linked account', async () => {
    await signedOn('shared@example.com', 'first');
    expect(await refusalOf(identified('shared@example.com', 'second'))).toEqual([
      'oidc_identity_mismatch',
      entry('shared@example.com', 'identity_mismatch'),
    ]);
  });

  it.each([true, false])('a disabled account; linked: %s', async (isLinked) => {
    const { id, email } = await fixture.person();
    if (isLinked) await signedOn(email);
    const params = { member_id: id };
    await fixture.endpoints.call(ofPeople.setDisabled, { params, body: { disabled: true } });
    expect(await refusalOf(identified(email))).toEqual([
      'account_disabled',
      entry(email, 'account_disabled'),
    ]);
  });

  it('a provider that is unavailable at the start', async () => {
    const before = await fixture.storedRows();
    provider.isUnavailable = true;
    const body = { return_to: '/', session_token: undefined };
    const started = await fixture.withoutPerson.call(parts.startOidc, { body, client });
    provider.isUnavailable = false;
    expect(started).toMatchObject({ kind: 'refused', error: 'oidc_unavailable' });
    expect(await fixture.storedRows()).toEqual(before);
  });
});

it('links no account that is disabled during its first sign-in', async () => {
  const { id, email } = await fixture.person();
  const flow = await start();
  provider.result = identified(email);
  const client = await fixture.pool.connect();
  await client.query('begin');
  await client.query('update members set disabled_at = now() where id = $1', [id]);
  const finished = finish(flow);
  const waiting = `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
  while ((await client.query(waiting)).rowCount === 0);
  await client.query('commit');
  client.release();
  expect(await finished).toMatchObject({ kind: 'refused', error: 'account_disabled' });
  expect(await fixture.ports.identities.list(id)).toEqual([]);
});

describe('an identity is unlinked', () => {
  const identitiesOf = async (id: string) => (await fixture.ports.identities.list(id)).length;
  const audits = async (id: string) =>
    (await fixture.auditOf(id)).filter(({ action }) => action === 'member.unlink_identity');
  const byOperator = (id: string, issuer = ISSUER) =>
    codeOf(
      fixture.endpoints.call(ofPeople.unlinkPersonIdentity, { params: { member_id: id }, body: { issuer } }),
    );

  it('by its owner with the password, which ends the other sessions by single sign-on', async () => {
    const { id, email } = await fixture.person();
    const [here, there] = [await signedOn(email), await signedOn(email)];
    const byPassword = (await fixture.signIn(email, PASSWORD)).session_token;
    const own = await fixture.endpointsOf(here);
    const unlink = (password: string, issuer = ISSUER) =>
      codeOf(own.call(account.unlinkIdentity, { body: { issuer, password } }));
    expect(await unlink('not the password')).toBe('sign_in_refused');
    expect(await unlink(PASSWORD, 'https://other.example')).toBe('not_found');
    expect([await identitiesOf(id), await audits(id)]).toEqual([1, []]);
    expect(await unlink(PASSWORD)).toBeUndefined();
    expect(await identitiesOf(id)).toBe(0);
    expect(await audits(id)).toMatchObject([{ actor: email, details: { email, issuer: ISSUER } }]);
    const active = [here, there, byPassword].map((token) => fixture.isSignedIn(token));
    expect(await Promise.all(active)).toEqual([true, false, true]);
  });

  it('never if the person could no longer sign in', async () => {
    const sessionToken = await signedOn('only-here@example.com');
    const { id } = await memberOf(sessionToken);
    const own = await fixture.endpointsOf(sessionToken);
    const body = { issuer: ISSUER, password: '' };
    expect(await codeOf(own.call(account.unlinkIdentity, { body }))).toBe('conflict');
    expect(await byOperator(id)).toBe('conflict');
    expect([await identitiesOf(id), await audits(id), await fixture.isSignedIn(sessionToken)]).toEqual([
      1,
      [],
      true,
    ]);
  });

  it('by an operator, so that another identity with the same email can be linked', async () => {
    const { id, email } = await fixture.person();
    const sessionToken = await signedOn(email, 'old');
    expect(await byOperator(id)).toBeUndefined();
    expect(await byOperator(id)).toBe('not_found');
    expect(await audits(id)).toMatchObject([{ actor: fixture.operator.label }]);
    expect(await fixture.isSignedIn(sessionToken)).toBe(false);
    expect((await memberOf(await signedOn(email, 'new'))).id).toBe(id);
  });
});
