import { signInErrors, type SignInErrorCode } from '@gateway/dashboard-contract';
import {
  createSsoBrowser,
  redirectOf,
  startIdentityProvider,
  type IdentityProviderUnderTest,
  type SsoBrowser,
  type VisitedPage,
} from '@gateway/test-support';
import {
  createBrowser,
  createDashboardFixture,
  OPERATOR,
  type DashboardFixture,
} from './testing/dashboard-fixture';

/** Uses a real provider, a real database, and simulated browsers. */
describe('single sign-on', () => {
  const logged: unknown[] = [];
  const log = Object.fromEntries(
    ['trace', 'debug', 'info', 'warn', 'error', 'fatal'].map((level) => [
      level,
      (...line: unknown[]) => logged.push(line),
    ]),
  );
  let provider: IdentityProviderUnderTest;
  let fixture: DashboardFixture;
  let organizationId: string;

  beforeAll(async () => {
    provider = await startIdentityProvider();
    const { issuer, clientId, clientSecret } = provider;
    const oidc = { issuer, clientId, clientSecret, label: 'Acme login' };
    fixture = await createDashboardFixture({ log: log as never }, { oidc });
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

  it('creates a member with the name that the provider has', async () => {
    const browser = createSsoBrowser();
    await signOn('Grace Hopper <hopper@example.com>', { browser });
    expect(await stateOf(browser)).toMatchObject({
      member: { email: 'hopper@example.com', name: 'Grace Hopper' },
    });
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

  it('redirects a refused person to the sign-in page, without a session, and audits it', async () => {
    const before = await storedRowCounts();
    expectRefused(await signOn('unverified eve@example.com'), 'oidc_email_not_verified');
    expect(await storedRowCounts()).toEqual({ ...before, audits: before.audits + 1n });
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

  it('rejects the callback of another browser, which can still complete it', async () => {
    const browser = createSsoBrowser();
    const back = await browser.signInAtProvider(redirectOf(await start(browser)), 'victim@example.com');
    expectRefused(await createSsoBrowser().visit(back), 'oidc_state_invalid');
    expect(redirectOf(await browser.visit(back)).pathname).toBe('/');
    expectRefused(await browser.visit(back), 'oidc_state_invalid');
  });

  it('rejects a sign-in that was started with another nonce', async () => {
    const browser = createSsoBrowser();
    const to = redirectOf(await start(browser));
    to.searchParams.set('nonce', 'of-another-sign-in');
    const back = await browser.signInAtProvider(to, 'mallory@example.com');
    const before = await storedRowCounts();
    expectRefused(await browser.visit(back), 'oidc_failed');
    expect(await storedRowCounts()).toEqual({ ...before, flows: before.flows - 1n });
  });

  it('shows that the person or the provider denied the sign-in', async () => {
    const browser = createSsoBrowser();
    const aborted = await browser.signInAtProvider(redirectOf(await start(browser)), '', 'abort');
    expect(aborted.searchParams.get('error')).toBe('access_denied');
    expectRefused(await browser.visit(aborted), 'oidc_denied');
  });

  it('does not redirect to another site', async () => {
    const done = await signOn('traveller@example.com', { returnTo: 'https://evil.example' });
    expect([done.status, done.headers.get('location')]).toEqual([303, '/']);
  });

  it('reports a provider that fails before the callback', async () => {
    const browser = createSsoBrowser();
    const back = await browser.signInAtProvider(redirectOf(await start(browser)), 'unlucky@example.com');
    provider.alterResponses((_path, response) => ({ ...response, status: 503, body: 'down' }));
    expectRefused(await browser.visit(back), 'oidc_unavailable');
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
