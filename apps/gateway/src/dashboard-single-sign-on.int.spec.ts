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
import { createSsoBrowser, redirectOf, type VisitedPage, type SsoBrowser } from '@gateway/test-support';

const TEN_MINUTES_MS = 10 * 60_000;

/** Uses a real provider, a real database, and simulated browsers. */
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
    const { json } = await operator.request('POST /api/organizations', { name: 'Acme' });
    organizationId = (json as { organization: { id: string } }).organization.id;
    const mapped = await operator.request(`PUT /api/organizations/${organizationId}/domains/Example.COM`, {
      role: 'admin',
    });
    expect(mapped.json).toMatchObject({ domain: { domain: 'example.com', role: 'admin' } });
  });
  afterAll(async () => {
    await fixture?.stop();
    await provider?.close();
  });
  beforeEach(async () => {
    // The tests exceed the limit of attempts per address.
    await fixture.pool.query('delete from sign_in_attempts');
  });
  afterEach(() => provider.alterResponses(undefined));

  const dashboard = (path: string) => `http://127.0.0.1:${fixture.api.port()}${path}`;
  const start = (browser: SsoBrowser, returnTo = '/') =>
    browser.visit(dashboard(`/api/oidc/start?return_to=${encodeURIComponent(returnTo)}`));

  /** From the sign-in button to the final redirect of the dashboard. */
  async function signOn(
    login: string,
    { browser = createSsoBrowser(), returnTo = '/' } = {},
  ): Promise<VisitedPage> {
    const started = await start(browser, returnTo);
    return browser.visit(await browser.signInAtProvider(redirectOf(started), login));
  }

  async function stateOf(browser: SsoBrowser): Promise<Record<string, unknown>> {
    return JSON.parse((await browser.visit(dashboard('/api/session'))).text) as Record<string, unknown>;
  }

  interface RowCounts {
    readonly flows: bigint;
    readonly audits: bigint;
  }
  async function storedRowCounts(): Promise<RowCounts> {
    const { rows } = await fixture.pool.query<RowCounts>(`
      select (select count(*) from members) as members, (select count(*) from sessions) as sessions,
        (select count(*) from member_identities) as identities, (select count(*) from memberships) as memberships,
        (select count(*) from oidc_flows) as flows, (select count(*) from audit_entries) as audits`);
    return rows[0] as RowCounts;
  }

  /** Signs on, expects that it stores nothing but an entry in the audit log, and returns that entry. */
  async function refusedSignOn(login: string, error: SignInErrorCode): Promise<unknown> {
    const before = await storedRowCounts();
    expectRefused(await signOn(login), error);
    expect(await storedRowCounts()).toEqual({ ...before, audits: before.audits + 1n });
    const { rows } = await fixture.pool.query(
      'select action, actor_label, details from audit_entries order by id desc limit 1',
    );
    return rows[0];
  }

  const refusal = (actor: string, reason: string) => ({
    action: 'session.refuse',
    actor_label: actor,
    details: { reason },
  });

  /** Redirected to the sign-in page with this error and the request id, without a session. */
  function expectRefused(visited: VisitedPage, error: SignInErrorCode): void {
    const { pathname, searchParams } = redirectOf(visited);
    expect([visited.status, pathname, searchParams.get('error')]).toEqual([303, '/sign-in', error]);
    expect(searchParams.get('request_id')).toBe(visited.headers.get('x-request-id'));
    expect(Object.keys(signInErrors)).toContain(error);
    expect(visited.headers.getSetCookie().join()).not.toContain('gateway_session');
  }

  it('is offered on the sign-in page with its label', async () => {
    const { json } = await createBrowser(fixture.api.port()).request('GET /api/sign-in-options');
    expect(json).toMatchObject({ oidc: { label: 'Acme login', start_path: '/api/oidc/start' } });
  });

  it('shows an organization its domains, but not which operator has mapped them', async () => {
    await fixture.person('owner@example.com', { [organizationId]: 'owner' });
    for (const [email, mappedBy] of [
      ['owner@example.com', 'Operator'],
      [OPERATOR.email, OPERATOR.email],
    ] as const) {
      const reader = await fixture.signedIn(email);
      const { json } = await reader.request(`GET /api/organizations/${organizationId}/domains`);
      expect(json).toMatchObject({ data: [{ domain: 'example.com', mapped_by: mappedBy }] });
    }
  });

  it('creates a member on the first sign-in with a verified email of a mapped domain', async () => {
    const browser = createSsoBrowser();
    const done = await signOn('Ada@example.com', { browser, returnTo: `/o/${organizationId}?a=1` });
    expect([done.status, redirectOf(done).href]).toEqual([303, dashboard(`/o/${organizationId}?a=1`)]);
    expect(await stateOf(browser)).toMatchObject({
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
    expect(await storedRowCounts()).toMatchObject({ flows: 0n });
  });

  it('identifies a member by the provider’s subject, even after a change of email', async () => {
    const first = createSsoBrowser();
    await provider.setEmail('grace', 'grace@example.com');
    await signOn('grace', { browser: first });
    const again = createSsoBrowser();
    await provider.setEmail('grace', 'hopper@example.com');
    await signOn('grace', { browser: again });
    const { member } = await stateOf(first);
    expect(member).toMatchObject({ email: 'grace@example.com' });
    expect((await stateOf(again))['member']).toEqual(member);
  });

  it('does not re-add a person to an organization from which they were removed', async () => {
    const browser = createSsoBrowser();
    await signOn('left@example.com', { browser });
    const { id } = (await stateOf(browser))['member'] as { id: string };
    const operator = await fixture.signedIn(OPERATOR.email);
    const { status } = await operator.request(`DELETE /api/organizations/${organizationId}/members/${id}`);
    expect(status).toBe(204);
    await signOn('left@example.com', { browser });
    expect(await stateOf(browser)).toMatchObject({ member: { id }, memberships: [] });
  });

  it('links an existing account by its verified email, without its second factor', async () => {
    const memberId = await fixture.person('old@example.com', { [organizationId]: 'owner' });
    await fixture.pool.query(
      `update members set totp_secret = 'GEZDGNBVGY3TQOJQ', totp_confirmed_at = now() where id = $1`,
      [memberId],
    );
    const browser = createSsoBrowser();
    await signOn('old@example.com', { browser });
    expect(await stateOf(browser)).toMatchObject({
      member: { id: memberId },
      memberships: [{ role: 'owner' }],
      ...{ has_password: true, second_factor: true },
    });
  });

  it('rejects another identity with the email of a linked account', async () => {
    await provider.setEmail('first', 'shared@example.com');
    await provider.setEmail('second', 'shared@example.com');
    await signOn('first');
    expect(await refusedSignOn('second', 'oidc_identity_mismatch')).toEqual(
      refusal('shared@example.com', 'identity_mismatch'),
    );
  });

  it('rejects a disabled account, linked or not', async () => {
    await signOn('disabled@example.com');
    await fixture.person('unlinked@example.com');
    for (const email of ['disabled@example.com', 'unlinked@example.com']) {
      await fixture.pool.query('update members set disabled_at = now() where email = $1', [email]);
      expect(await refusedSignOn(email, 'account_disabled')).toEqual(refusal(email, 'account_disabled'));
    }
  });

  it.each([
    ['an unverified email', 'unverified eve@example.com', 'oidc_email_not_verified'],
    ['an email of an unmapped domain', 'eve@elsewhere.example', 'oidc_no_organization'],
    ['a subdomain of a mapped domain', 'eve@sub.example.com', 'oidc_no_organization'],
    ['an operator with an unmapped domain', 'ops@elsewhere.example', 'oidc_no_organization'],
  ] as const)('rejects %s', async (_what, login, error) => {
    if (login.startsWith('ops')) await fixture.person(login);
    const reason = error === 'oidc_no_organization' ? 'domain_not_mapped' : 'email_not_verified';
    expect(await refusedSignOn(login, error)).toEqual(refusal('unknown', reason));
  });

  it('links no account that is disabled during its first sign-in', async () => {
    const memberId = await fixture.person('dismissed@example.com', { [organizationId]: 'member' });
    const browser = createSsoBrowser();
    const callback = await browser.signInAtProvider(
      redirectOf(await start(browser)),
      'dismissed@example.com',
    );
    const client = await fixture.pool.connect();
    try {
      await client.query('begin');
      await client.query('update members set disabled_at = now() where id = $1', [memberId]);
      const visited = browser.visit(callback);
      const waiting = `select from pg_stat_activity
        where wait_event_type = 'Lock' and datname = current_database()`;
      while ((await fixture.pool.query(waiting)).rowCount === 0);
      await client.query('commit');
      expectRefused(await visited, 'account_disabled');
    } finally {
      client.release();
    }
    for (const table of ['sessions', 'member_identities']) {
      const stored = `select 1 from ${table} where member_id = $1`;
      expect((await fixture.pool.query(stored, [memberId])).rows).toEqual([]);
    }
  });

  it('creates one member for three concurrent first sign-ins', async () => {
    const browsers = [createSsoBrowser(), createSsoBrowser(), createSsoBrowser()];
    const backs = await Promise.all(
      browsers.map(async (browser) =>
        browser.signInAtProvider(redirectOf(await start(browser)), 'twice@example.com'),
      ),
    );
    await Promise.all(browsers.map((browser, index) => browser.visit(backs[index] as URL)));
    const members = await Promise.all(browsers.map(async (browser) => (await stateOf(browser))['member']));
    expect(members[0]).toMatchObject({ email: 'twice@example.com' });
    expect(new Set(members.map((member) => JSON.stringify(member))).size).toBe(1);
  });

  it("deletes the browser's previous session", async () => {
    const browser = createSsoBrowser();
    await signOn('changing@example.com', { browser });
    const before = browser.cookies(dashboard(''))['gateway_session'] ?? '';
    await signOn('changing@example.com', { browser });
    expect(browser.cookies(dashboard(''))['gateway_session']).not.toBe(before);
    const stale = await createBrowser(fixture.api.port()).request('GET /api/session', undefined, {
      cookie: `gateway_session=${before}`,
    });
    expect([before.length > 20, stale.status]).toEqual([true, 401]);
  });

  it('ends with a sign-out', async () => {
    const browser = createSsoBrowser();
    await signOn('leaving@example.com', { browser });
    const cookie = `gateway_session=${browser.cookies(dashboard(''))['gateway_session']}`;
    const dashboardBrowser = createBrowser(fixture.api.port());
    expect((await dashboardBrowser.request('DELETE /api/session', {}, { cookie })).status).toBe(204);
    expect((await dashboardBrowser.request('GET /api/session', undefined, { cookie })).status).toBe(401);
  });

  describe('is unlinked', () => {
    const requestAs = (browser: SsoBrowser) => {
      const dashboardBrowser = createBrowser(fixture.api.port());
      const cookie = `gateway_session=${browser.cookies(dashboard(''))['gateway_session']}`;
      return (line: string, body?: object) => dashboardBrowser.request(line, body, { cookie });
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

    it('by its owner with the password, which deletes its other sessions', async () => {
      const email = 'tired@example.com';
      const memberId = await fixture.person(email);
      const [here, there] = [createSsoBrowser(), createSsoBrowser()];
      await signOn(email, { browser: here });
      await signOn(email, { browser: there });
      const byPassword = await fixture.signedIn(email);
      const { issuer } = provider;
      const listed = await requestAs(here)('GET /api/account/identities');
      expect(listed.json).toMatchObject({ data: [{ issuer }] });

      const wrong = await requestAs(here)(unlinking, { issuer, password: 'not the password' });
      expect([wrong.status, wrong.error.code]).toEqual([401, 'sign_in_refused']);
      const other = { issuer: 'https://other.example', password: OPERATOR.password };
      expect((await requestAs(here)(unlinking, other)).error.code).toBe('not_found');
      expect([await identitiesOf(memberId), await auditsOf(memberId)]).toEqual([1, []]);

      const { status } = await requestAs(here)(unlinking, { issuer, password: OPERATOR.password });
      expect([status, await identitiesOf(memberId)]).toEqual([204, 0]);
      expect(await auditsOf(memberId)).toEqual([{ actor_label: email, details: { email, issuer } }]);
      expect((await requestAs(here)('GET /api/account/identities')).json).toEqual({ data: [] });
      expect((await requestAs(there)('GET /api/session')).status).toBe(401);
      expect((await byPassword.request('GET /api/session')).status).toBe(200);
    });

    it('but not if the person could no longer sign in', async () => {
      const browser = createSsoBrowser();
      await signOn('only-here@example.com', { browser });
      const { id } = (await stateOf(browser))['member'] as { id: string };
      const { issuer } = provider;
      const own = await requestAs(browser)(unlinking, { issuer, password: '' });
      const operator = await fixture.signedIn(OPERATOR.email);
      const byOperator = await operator.request(`POST /api/people/${id}/identities/unlink`, { issuer });
      for (const { status, error } of [own, byOperator]) {
        expect([status, error.code, error.message]).toEqual([
          409,
          'conflict',
          expect.stringContaining('no password'),
        ]);
      }
      expect([await identitiesOf(id), await auditsOf(id)]).toEqual([1, []]);
      expect((await requestAs(browser)('GET /api/session')).status).toBe(200);
    });

    it('by an operator, so that another identity with the same email can be linked', async () => {
      const email = 'renamed@example.com';
      const memberId = await fixture.person(email);
      await provider.setEmail('old-name', email);
      await provider.setEmail('new-name', email);
      const browser = createSsoBrowser();
      await signOn('old-name', { browser });
      expectRefused(await signOn('new-name'), 'oidc_identity_mismatch');
      const operator = await fixture.signedIn(OPERATOR.email);
      const { issuer } = provider;
      const people = await operator.request('GET /api/people?page_size=200');
      expect(
        (people.json as { data: { email: string; identities: object[] }[] }).data.find(
          (person) => person.email === email,
        )?.identities,
      ).toMatchObject([{ issuer }]);
      expect(
        (await operator.request(`POST /api/people/${memberId}/identities/unlink`, { issuer })).status,
      ).toBe(204);
      expect(await auditsOf(memberId)).toEqual([{ actor_label: OPERATOR.email, details: { email, issuer } }]);
      expect((await requestAs(browser)('GET /api/session')).status).toBe(401);
      const again = createSsoBrowser();
      await signOn('new-name', { browser: again });
      expect(await stateOf(again)).toMatchObject({ member: { id: memberId } });
    });
  });

  describe('rejects callbacks of another browser, replays and late callbacks', () => {
    it('a flow of another browser, which can still complete it', async () => {
      const browser = createSsoBrowser();
      const back = await browser.signInAtProvider(redirectOf(await start(browser)), 'victim@example.com');
      expectRefused(await createSsoBrowser().visit(back), 'oidc_state_invalid');
      expect(redirectOf(await browser.visit(back)).pathname).toBe('/');
    });

    it('a replay of the same callback, also concurrently', async () => {
      const browser = createSsoBrowser();
      const back = await browser.signInAtProvider(redirectOf(await start(browser)), 'once@example.com');
      const cookie = Object.entries(browser.cookies(dashboard('')))
        .map(([name, value]) => `${name}=${value}`)
        .join('; ');
      const responses = await Promise.all(
        [1, 2, 3].map(() => fetch(back, { redirect: 'manual', headers: { cookie } })),
      );
      const errors = responses.map(({ headers }) =>
        new URL(headers.get('location') ?? '', back).searchParams.get('error'),
      );
      expect(errors.sort()).toEqual(['oidc_state_invalid', 'oidc_state_invalid', null].sort());
    });

    it('a callback after more than ten minutes', async () => {
      const browser = createSsoBrowser();
      const back = await browser.signInAtProvider(redirectOf(await start(browser)), 'late@example.com');
      clock.advance(TEN_MINUTES_MS);
      expectRefused(await browser.visit(back), 'oidc_state_invalid');
      expect(await storedRowCounts()).toMatchObject({ flows: 0n });
    });

    it('a callback without a state', async () => {
      expectRefused(await createSsoBrowser().visit(dashboard('/api/oidc/callback')), 'oidc_state_invalid');
      expectRefused(
        await createSsoBrowser().visit(dashboard('/api/oidc/callback?state=a&code=b')),
        'oidc_state_invalid',
      );
    });
  });

  describe('rejects responses that do not belong to this sign-in', () => {
    async function refusedAfter(
      change: (back: URL) => void,
      tamperStart: (to: URL) => void = () => undefined,
    ) {
      const browser = createSsoBrowser();
      const to = redirectOf(await start(browser));
      tamperStart(to);
      const back = await browser.signInAtProvider(to, 'mallory@example.com');
      change(back);
      const before = await storedRowCounts();
      expectRefused(await browser.visit(back), 'oidc_failed');
      expect(await storedRowCounts()).toEqual({ ...before, flows: before.flows - 1n });
    }

    it('a code that belongs to another sign-in', async () => {
      const other = createSsoBrowser();
      const stolen = await other.signInAtProvider(redirectOf(await start(other)), 'victim@example.com');
      await refusedAfter((back) => back.searchParams.set('code', stolen.searchParams.get('code') ?? ''));
    });

    it('a used code', async () => {
      const browser = createSsoBrowser();
      const used = await browser.signInAtProvider(redirectOf(await start(browser)), 'used@example.com');
      await browser.visit(used);
      await refusedAfter((back) => back.searchParams.set('code', used.searchParams.get('code') ?? ''));
    });

    it('another issuer, or a missing one', async () => {
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
      ['with an invalid signature', (token: string) => `${token.slice(0, -20)}${'A'.repeat(20)}`],
      ['unsigned', (token: string) => withHeader(token, { alg: 'none' }).replace(/[^.]+$/, '')],
      ['for another client', (token: string) => withClaims(token, { aud: 'another-client' })],
      ['for another subject', (token: string) => withClaims(token, { sub: 'ada@example.com' })],
      ['with an empty subject', (token: string) => withClaims(token, { sub: '' })],
    ] as const)('an ID token %s', async (_what, forge) => {
      provider.alterResponses((path, response) => {
        if (path !== '/token' || response.status !== 200) return response;
        const tokens = JSON.parse(response.body) as { id_token: string };
        return { ...response, body: JSON.stringify({ ...tokens, id_token: forge(tokens.id_token) }) };
      });
      await refusedAfter(() => undefined);
    });
  });

  it('shows that the person or the provider denied the sign-in', async () => {
    const browser = createSsoBrowser();
    const aborted = await browser.signInAtProvider(redirectOf(await start(browser)), '', 'abort');
    expect(aborted.searchParams.get('error')).toBe('access_denied');
    expectRefused(await browser.visit(aborted), 'oidc_denied');
  });

  it.each([
    '//evil.example',
    'https://evil.example',
    '/\\evil.example',
    'javascript:alert(1)',
    '/.//evil.example',
  ])('does not redirect to another site: %s', async (returnTo) => {
    const done = await signOn('traveller@example.com', { returnTo });
    expect([done.status, done.headers.get('location')]).toEqual([303, '/']);
  });

  describe('while the provider is unavailable', () => {
    it('reports it at the start, and stores nothing', async () => {
      // A new instance, since the existing one has cached the provider's metadata.
      const { issuer, clientId, clientSecret } = provider;
      const fresh = await createDashboardFixture(
        {},
        { oidc: { issuer, clientId, clientSecret, label: 'Acme login' } },
      );
      try {
        await provider.suspend();
        const start = `http://127.0.0.1:${fresh.api.port()}/api/oidc/start`;
        expectRefused(await createSsoBrowser().visit(start), 'oidc_unavailable');
        const { rows } = await fresh.pool.query('select 1 from oidc_flows');
        expect(rows).toEqual([]);
        await provider.resume();
        // The next sign-in succeeds after recovery.
        expect(redirectOf(await createSsoBrowser().visit(start)).origin).toBe(issuer);
      } finally {
        await fresh.stop();
      }
    });

    it.each([
      ['is unreachable', undefined],
      ['does not respond', () => 'no response' as const],
      ['fails', (_path: string, response: object) => ({ ...response, status: 503, body: 'down' }) as never],
    ] as const)('reports it when it %s before the callback, and stores nothing', async (_what, alter) => {
      const browser = createSsoBrowser();
      const back = await browser.signInAtProvider(redirectOf(await start(browser)), 'unlucky@example.com');
      const before = await storedRowCounts();
      if (alter) provider.alterResponses(alter);
      else await provider.suspend();
      try {
        expectRefused(await browser.visit(back), 'oidc_unavailable');
      } finally {
        if (!alter) await provider.resume();
      }
      expect(await storedRowCounts()).toEqual({ ...before, flows: before.flows - 1n });
    });
  });

  it('logs the reason, but no secret, code or email', () => {
    const lines = JSON.stringify(logged);
    expect(lines).toContain('OAUTH_');
    expect(lines).not.toContain(provider.clientSecret);
    expect(lines).not.toMatch(/@example\.com|code=|eyJ/);
  });

  it('limits attempts per address', async () => {
    const browser = createSsoBrowser();
    for (let attempts = 0; attempts < 60; attempts += 1) await browser.visit(dashboard('/api/oidc/callback'));
    expectRefused(await start(browser), 'too_many_attempts');
  });
});

describe('without single sign-on', () => {
  it('its paths return not_found', async () => {
    const fixture = await createDashboardFixture();
    try {
      const browser = createBrowser(fixture.api.port());
      expect((await browser.request('GET /api/oidc/start')).error.code).toBe('not_found');
      expect((await browser.request('GET /api/oidc/callback?state=a')).error.code).toBe('not_found');
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
