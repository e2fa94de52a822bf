import { signInErrors, type SignInErrorCode } from '@gateway/dashboard-contract';
import {
  createTestClock,
  startIdentityProvider,
  type IdentityProviderUnderTest,
} from '@gateway/test-support';
import {
  createBrowser,
  createDashboardFixture,
  OPERATOR,
  type DashboardFixture,
} from './testing/dashboard-fixture';
import { createVisitor, located, type Visited, type Visitor } from './testing/visitor';

const TEN_MINUTES_MS = 10 * 60_000;

/** A real provider, a real database, and persons with browsers who go from one to the other. */
describe('single sign-on', () => {
  const logged: unknown[] = [];
  const log = Object.fromEntries(
    ['trace', 'debug', 'info', 'warn', 'error', 'fatal'].map((level) => [
      level,
      (...line: unknown[]) => logged.push(line),
    ]),
  );
  const clock = createTestClock(Date.now());
  let provider: IdentityProviderUnderTest;
  let fixture: DashboardFixture;
  let organizationId: string;

  beforeAll(async () => {
    provider = await startIdentityProvider();
    const { issuer, clientId, clientSecret } = provider;
    const oidc = { issuer, clientId, clientSecret, label: 'Acme login' };
    fixture = await createDashboardFixture({ log: log as never }, { oidc, clock });
    const operator = await fixture.signedIn(OPERATOR.email);
    const { json } = await operator.ask('POST /api/organizations', { name: 'Acme' });
    organizationId = (json as { organization: { id: string } }).organization.id;
    const mapped = await operator.ask(`PUT /api/organizations/${organizationId}/domains/Example.COM`, {
      role: 'admin',
    });
    expect(mapped.json).toMatchObject({ domain: { domain: 'example.com', role: 'admin' } });
  });
  afterAll(async () => {
    await fixture?.stop();
    await provider?.close();
  });
  beforeEach(async () => {
    // More come from this address than a person would.
    await fixture.pool.query('delete from sign_in_attempts');
  });
  afterEach(() => provider.meddle(undefined));

  const dashboard = (path: string) => `http://127.0.0.1:${fixture.api.port()}${path}`;
  const begin = (visitor: Visitor, returnTo = '/') =>
    visitor.visit(dashboard(`/api/oidc/start?return_to=${encodeURIComponent(returnTo)}`));

  /** From the button to where the dashboard sends the browser in the end. */
  async function signOn(login: string, { visitor = createVisitor(), returnTo = '/' } = {}): Promise<Visited> {
    const started = await begin(visitor, returnTo);
    return visitor.visit(await visitor.signInAtProvider(located(started), login));
  }

  async function stateOf(visitor: Visitor): Promise<Record<string, unknown>> {
    return JSON.parse((await visitor.visit(dashboard('/api/session'))).text) as Record<string, unknown>;
  }

  async function everythingKept(): Promise<unknown> {
    const { rows } = await fixture.pool.query(`
      select (select count(*) from members) as members, (select count(*) from sessions) as sessions,
        (select count(*) from member_identities) as identities, (select count(*) from memberships) as memberships,
        (select count(*) from oidc_flows) as flows, (select count(*) from audit_entries) as audits`);
    return rows[0];
  }

  /** The sign-in page with this error and the request's id, no session, and nothing left behind. */
  function expectRefused(visited: Visited, error: SignInErrorCode): void {
    const { pathname, searchParams } = located(visited);
    expect([visited.status, pathname, searchParams.get('error')]).toEqual([303, '/sign-in', error]);
    expect(searchParams.get('request_id')).toBe(visited.headers.get('x-request-id'));
    expect(Object.keys(signInErrors)).toContain(error);
    expect(visited.headers.getSetCookie().join()).not.toContain('gateway_session');
  }

  it('is what the sign-in page offers, by its name', async () => {
    const { json } = await createBrowser(fixture.api.port()).ask('GET /api/sign-in-options');
    expect(json).toMatchObject({ oidc: { label: 'Acme login', start_path: '/api/oidc/start' } });
  });

  it('makes a member of whoever comes first with a verified email of a mapped domain', async () => {
    const visitor = createVisitor();
    const done = await signOn('Ada@example.com', { visitor, returnTo: `/o/${organizationId}?a=1` });
    expect([done.status, located(done).href]).toEqual([303, dashboard(`/o/${organizationId}?a=1`)]);
    expect(await stateOf(visitor)).toMatchObject({
      member: { email: 'ada@example.com', role: 'member' },
      memberships: [{ organization: { id: organizationId }, role: 'admin' }],
      ...{ signed_in_by: 'oidc', has_password: false, second_factor: false },
    });
    const { rows } = await fixture.pool.query(
      `select action, organization_id, details from audit_entries where actor_label = 'ada@example.com' order by id`,
    );
    expect(rows.map(({ action }) => action as string).sort()).toEqual([
      'member.create',
      'member.link_identity',
      'membership.create',
      'session.create',
    ]);
    expect(await everythingKept()).toMatchObject({ flows: 0n });
  });

  it('finds the same member again by the provider’s name of them, whatever their email is by then', async () => {
    const first = createVisitor();
    await provider.giveEmail('grace', 'grace@example.com');
    await signOn('grace', { visitor: first });
    const again = createVisitor();
    await provider.giveEmail('grace', 'hopper@example.com');
    await signOn('grace', { visitor: again });
    const { member } = await stateOf(first);
    expect(member).toMatchObject({ email: 'grace@example.com' });
    expect((await stateOf(again))['member']).toEqual(member);
  });

  it('takes nobody back into an organization that they were taken out of', async () => {
    const visitor = createVisitor();
    await signOn('left@example.com', { visitor });
    const { id } = (await stateOf(visitor))['member'] as { id: string };
    const operator = await fixture.signedIn(OPERATOR.email);
    const { status } = await operator.ask(`DELETE /api/organizations/${organizationId}/members/${id}`);
    expect(status).toBe(204);
    await signOn('left@example.com', { visitor });
    expect(await stateOf(visitor)).toMatchObject({ member: { id }, memberships: [] });
  });

  it('links an account that exists by its verified email, and stands for its second factor too', async () => {
    const memberId = await fixture.person('old@example.com', { [organizationId]: 'owner' });
    await fixture.pool.query(
      `update members set totp_secret = 'GEZDGNBVGY3TQOJQ', totp_confirmed_at = now() where id = $1`,
      [memberId],
    );
    const visitor = createVisitor();
    await signOn('old@example.com', { visitor });
    expect(await stateOf(visitor)).toMatchObject({
      member: { id: memberId },
      memberships: [{ role: 'owner' }],
      ...{ has_password: true, second_factor: true },
    });
  });

  it('opens no account for another identity that was given its email', async () => {
    await provider.giveEmail('first', 'shared@example.com');
    await provider.giveEmail('second', 'shared@example.com');
    await signOn('first');
    const before = await everythingKept();
    expectRefused(await signOn('second'), 'oidc_identity_mismatch');
    expect(await everythingKept()).toEqual(before);
  });

  it.each([
    ['an email that nobody verified', 'unverified eve@example.com', 'oidc_email_not_verified'],
    ['an email of no mapped domain', 'eve@elsewhere.example', 'oidc_no_organization'],
    ['a domain below a mapped one', 'eve@sub.example.com', 'oidc_no_organization'],
    ['the operator, whose domain nobody mapped', 'ops@elsewhere.example', 'oidc_no_organization'],
  ] as const)('refuses %s, and keeps nothing', async (_what, login, error) => {
    if (login.startsWith('ops')) await fixture.person(login);
    const before = await everythingKept();
    expectRefused(await signOn(login), error);
    expect(await everythingKept()).toEqual(before);
  });

  it('makes one member of three first sign-ins at once', async () => {
    const visitors = [createVisitor(), createVisitor(), createVisitor()];
    const backs = await Promise.all(
      visitors.map(async (visitor) =>
        visitor.signInAtProvider(located(await begin(visitor)), 'twice@example.com'),
      ),
    );
    await Promise.all(visitors.map((visitor, index) => visitor.visit(backs[index] as URL)));
    const members = await Promise.all(visitors.map(async (visitor) => (await stateOf(visitor))['member']));
    expect(members[0]).toMatchObject({ email: 'twice@example.com' });
    expect(new Set(members.map((member) => JSON.stringify(member))).size).toBe(1);
  });

  it('ends the session that the browser had before', async () => {
    const visitor = createVisitor();
    await signOn('changing@example.com', { visitor });
    const before = visitor.cookies(dashboard(''))['gateway_session'] ?? '';
    await signOn('changing@example.com', { visitor });
    expect(visitor.cookies(dashboard(''))['gateway_session']).not.toBe(before);
    const stale = await createBrowser(fixture.api.port()).ask('GET /api/session', undefined, {
      cookie: `gateway_session=${before}`,
    });
    expect([before.length > 20, stale.status]).toEqual([true, 401]);
  });

  it('ends by signing out', async () => {
    const visitor = createVisitor();
    await signOn('leaving@example.com', { visitor });
    const cookie = `gateway_session=${visitor.cookies(dashboard(''))['gateway_session']}`;
    const browser = createBrowser(fixture.api.port());
    expect((await browser.ask('DELETE /api/session', {}, { cookie })).status).toBe(204);
    expect((await browser.ask('GET /api/session', undefined, { cookie })).status).toBe(401);
  });

  describe('is unlinked', () => {
    const asks = (visitor: Visitor) => {
      const browser = createBrowser(fixture.api.port());
      const cookie = `gateway_session=${visitor.cookies(dashboard(''))['gateway_session']}`;
      return (line: string, body?: object) => browser.ask(line, body, { cookie });
    };
    const unlinking = 'POST /api/account/identities/unlink';
    const identitiesOf = async (memberId: string) => {
      const { rows } = await fixture.pool.query('select issuer from member_identities where member_id = $1', [
        memberId,
      ]);
      return rows.length;
    };
    const auditsOf = async (memberId: string) => {
      const { rows } = await fixture.pool.query<{ actor_label: string; details: object }>(
        `select actor_label, details from audit_entries where action = 'member.unlink_identity' and target = $1`,
        [memberId],
      );
      return rows;
    };

    it('by its owner with the password, which ends the other sessions that it opened', async () => {
      const email = 'tired@example.com';
      const memberId = await fixture.person(email);
      const [here, there] = [createVisitor(), createVisitor()];
      await signOn(email, { visitor: here });
      await signOn(email, { visitor: there });
      const byPassword = await fixture.signedIn(email);
      const { issuer } = provider;
      const listed = await asks(here)('GET /api/account/identities');
      expect(listed.json).toMatchObject({ data: [{ issuer }] });

      const wrong = await asks(here)(unlinking, { issuer, password: 'not the password' });
      expect([wrong.status, wrong.error.code]).toEqual([401, 'sign_in_refused']);
      const other = { issuer: 'https://other.example', password: OPERATOR.password };
      expect((await asks(here)(unlinking, other)).error.code).toBe('not_found');
      expect([await identitiesOf(memberId), await auditsOf(memberId)]).toEqual([1, []]);

      const { status } = await asks(here)(unlinking, { issuer, password: OPERATOR.password });
      expect([status, await identitiesOf(memberId)]).toEqual([204, 0]);
      expect(await auditsOf(memberId)).toEqual([{ actor_label: email, details: { email, issuer } }]);
      expect((await asks(here)('GET /api/account/identities')).json).toEqual({ data: [] });
      expect((await asks(there)('GET /api/session')).status).toBe(401);
      expect((await byPassword.ask('GET /api/session')).status).toBe(200);
    });

    it('by no one who would have no way to sign in any more', async () => {
      const visitor = createVisitor();
      await signOn('only-here@example.com', { visitor });
      const { id } = (await stateOf(visitor))['member'] as { id: string };
      const { issuer } = provider;
      const own = await asks(visitor)(unlinking, { issuer, password: '' });
      const operator = await fixture.signedIn(OPERATOR.email);
      const byOperator = await operator.ask(`POST /api/people/${id}/identities/unlink`, { issuer });
      for (const { status, error } of [own, byOperator]) {
        expect([status, error.code, error.message]).toEqual([
          409,
          'conflict',
          expect.stringContaining('no password'),
        ]);
      }
      expect([await identitiesOf(id), await auditsOf(id)]).toEqual([1, []]);
      expect((await asks(visitor)('GET /api/session')).status).toBe(200);
    });

    it('by an operator, so that another identity with the same email may come in its place', async () => {
      const email = 'renamed@example.com';
      const memberId = await fixture.person(email);
      await provider.giveEmail('old-name', email);
      await provider.giveEmail('new-name', email);
      const visitor = createVisitor();
      await signOn('old-name', { visitor });
      expectRefused(await signOn('new-name'), 'oidc_identity_mismatch');
      const operator = await fixture.signedIn(OPERATOR.email);
      const { issuer } = provider;
      const people = await operator.ask('GET /api/people?page_size=200');
      expect(
        (people.json as { data: { email: string; identities: object[] }[] }).data.find(
          (person) => person.email === email,
        )?.identities,
      ).toMatchObject([{ issuer }]);
      expect((await operator.ask(`POST /api/people/${memberId}/identities/unlink`, { issuer })).status).toBe(
        204,
      );
      expect(await auditsOf(memberId)).toEqual([{ actor_label: OPERATOR.email, details: { email, issuer } }]);
      expect((await asks(visitor)('GET /api/session')).status).toBe(401);
      const again = createVisitor();
      await signOn('new-name', { visitor: again });
      expect(await stateOf(again)).toMatchObject({ member: { id: memberId } });
    });
  });

  describe('believes nothing that was not begun in this browser, or comes twice, or too late', () => {
    it('what another browser began, which is not used up by it', async () => {
      const visitor = createVisitor();
      const back = await visitor.signInAtProvider(located(await begin(visitor)), 'victim@example.com');
      expectRefused(await createVisitor().visit(back), 'oidc_state_invalid');
      expect(located(await visitor.visit(back)).pathname).toBe('/');
    });

    it('the same answer of the provider twice, also at once', async () => {
      const visitor = createVisitor();
      const back = await visitor.signInAtProvider(located(await begin(visitor)), 'once@example.com');
      const cookie = Object.entries(visitor.cookies(dashboard('')))
        .map(([name, value]) => `${name}=${value}`)
        .join('; ');
      const answers = await Promise.all(
        [1, 2, 3].map(() => fetch(back, { redirect: 'manual', headers: { cookie } })),
      );
      const errors = answers.map(({ headers }) =>
        new URL(headers.get('location') ?? '', back).searchParams.get('error'),
      );
      expect(errors.sort()).toEqual(['oidc_state_invalid', 'oidc_state_invalid', null].sort());
    });

    it('an answer that took longer than ten minutes', async () => {
      const visitor = createVisitor();
      const back = await visitor.signInAtProvider(located(await begin(visitor)), 'late@example.com');
      clock.advance(TEN_MINUTES_MS);
      expectRefused(await visitor.visit(back), 'oidc_state_invalid');
      expect(await everythingKept()).toMatchObject({ flows: 0n });
    });

    it('an answer without a state', async () => {
      expectRefused(await createVisitor().visit(dashboard('/api/oidc/callback')), 'oidc_state_invalid');
      expectRefused(
        await createVisitor().visit(dashboard('/api/oidc/callback?state=a&code=b')),
        'oidc_state_invalid',
      );
    });
  });

  describe('believes nothing that the provider did not say of this sign-in', () => {
    async function refusedAfter(
      change: (back: URL) => void,
      tamperStart: (to: URL) => void = () => undefined,
    ) {
      const visitor = createVisitor();
      const to = located(await begin(visitor));
      tamperStart(to);
      const back = await visitor.signInAtProvider(to, 'mallory@example.com');
      change(back);
      const before = (await everythingKept()) as { flows: bigint };
      expectRefused(await visitor.visit(back), 'oidc_failed');
      expect(await everythingKept()).toEqual({ ...before, flows: before.flows - 1n });
    }

    it('a code that belongs to another sign-in', async () => {
      const other = createVisitor();
      const stolen = await other.signInAtProvider(located(await begin(other)), 'victim@example.com');
      await refusedAfter((back) => back.searchParams.set('code', stolen.searchParams.get('code') ?? ''));
    });

    it('a code that was used already', async () => {
      const visitor = createVisitor();
      const used = await visitor.signInAtProvider(located(await begin(visitor)), 'used@example.com');
      await visitor.visit(used);
      await refusedAfter((back) => back.searchParams.set('code', used.searchParams.get('code') ?? ''));
    });

    it('another issuer, or none', async () => {
      await refusedAfter((back) => back.searchParams.set('iss', 'https://evil.example'));
      await refusedAfter((back) => back.searchParams.delete('iss'));
    });

    it('another nonce', () =>
      refusedAfter(
        () => undefined,
        (to) => to.searchParams.set('nonce', 'of-another-sign-in'),
      ));

    it('another code verifier', () =>
      refusedAfter(
        () => undefined,
        (to) => to.searchParams.set('code_challenge', 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'),
      ));

    it.each([
      ['signed by nobody we know', (token: string) => `${token.slice(0, -20)}${'A'.repeat(20)}`],
      ['unsigned', (token: string) => withHeader(token, { alg: 'none' }).replace(/[^.]+$/, '')],
      ['for another client', (token: string) => withClaims(token, { aud: 'another-client' })],
      ['about somebody else', (token: string) => withClaims(token, { sub: 'ada@example.com' })],
    ] as const)('a statement that is %s', async (_what, forge) => {
      provider.meddle((path, answer) => {
        if (path !== '/token' || answer.status !== 200) return answer;
        const tokens = JSON.parse(answer.body) as { id_token: string };
        return { ...answer, body: JSON.stringify({ ...tokens, id_token: forge(tokens.id_token) }) };
      });
      await refusedAfter(() => undefined);
    });
  });

  it('takes a refusal of the provider or of the person for what it is', async () => {
    const visitor = createVisitor();
    const aborted = await visitor.signInAtProvider(located(await begin(visitor)), '', 'abort');
    expect(aborted.searchParams.get('error')).toBe('access_denied');
    expectRefused(await visitor.visit(aborted), 'oidc_denied');
  });

  it.each([
    '//evil.example',
    'https://evil.example',
    '/\\evil.example',
    'javascript:alert(1)',
    '/.//evil.example',
  ])('goes to no other site afterwards: %s', async (returnTo) => {
    const done = await signOn('traveller@example.com', { returnTo });
    expect([done.status, done.headers.get('location')]).toEqual([303, '/']);
  });

  describe('while the provider is away', () => {
    it('says so at the start, and keeps nothing', async () => {
      // Its description is known by now, so only what asks it fails: as after a restart, it has to be asked first.
      const { issuer, clientId, clientSecret } = provider;
      const fresh = await createDashboardFixture(
        {},
        { oidc: { issuer, clientId, clientSecret, label: 'Acme login' } },
      );
      try {
        await provider.goAway();
        const start = `http://127.0.0.1:${fresh.api.port()}/api/oidc/start`;
        expectRefused(await createVisitor().visit(start), 'oidc_unavailable');
        const { rows } = await fresh.pool.query('select 1 from oidc_flows');
        expect(rows).toEqual([]);
        await provider.comeBack();
        // And is asked again as soon as it is back.
        expect(located(await createVisitor().visit(start)).origin).toBe(issuer);
      } finally {
        await fresh.stop();
      }
    });

    it.each([
      ['is gone', undefined],
      ['says nothing', () => 'silence' as const],
      ['fails', (_path: string, answer: object) => ({ ...answer, status: 503, body: 'down' }) as never],
    ] as const)('says so when it %s before the end, and keeps nothing', async (_what, meddle) => {
      const visitor = createVisitor();
      const back = await visitor.signInAtProvider(located(await begin(visitor)), 'unlucky@example.com');
      const before = (await everythingKept()) as { flows: bigint };
      if (meddle) provider.meddle(meddle);
      else await provider.goAway();
      try {
        expectRefused(await visitor.visit(back), 'oidc_unavailable');
      } finally {
        if (!meddle) await provider.comeBack();
      }
      expect(await everythingKept()).toEqual({ ...before, flows: before.flows - 1n });
    });
  });

  it('tells logs why, and no secret, code or email', () => {
    const lines = JSON.stringify(logged);
    expect(lines).toContain('OAUTH_');
    expect(lines).not.toContain(provider.clientSecret);
    expect(lines).not.toMatch(/@example\.com|code=|eyJ/);
  });

  it('keeps too many attempts of one address off the provider', async () => {
    const visitor = createVisitor();
    for (let attempts = 0; attempts < 60; attempts += 1) await visitor.visit(dashboard('/api/oidc/callback'));
    expectRefused(await begin(visitor), 'too_many_attempts');
  });
});

describe('without a single sign-on', () => {
  it('there is none at its paths', async () => {
    const fixture = await createDashboardFixture();
    try {
      const browser = createBrowser(fixture.api.port());
      expect((await browser.ask('GET /api/oidc/start')).error.code).toBe('not_found');
      expect((await browser.ask('GET /api/oidc/callback?state=a')).error.code).toBe('not_found');
    } finally {
      await fixture.stop();
    }
  });
});

const encoded = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
const decoded = (part = '') => JSON.parse(Buffer.from(part, 'base64url').toString()) as object;

function withHeader(token: string, changes: object): string {
  const [header, claims, signature] = token.split('.');
  return [encoded({ ...decoded(header), ...changes }), claims, signature].join('.');
}

function withClaims(token: string, changes: object): string {
  const [header, claims, signature] = token.split('.');
  return [header, encoded({ ...decoded(claims), ...changes }), signature].join('.');
}
