import { NO_LIMITS } from '@gateway/test-support';
import { browserTests, type Browser, type Page } from '../testing/chromium';
import { followPath, openPage, takeSession } from '../testing/dashboard-page';
import { PASSWORD, personWith } from '../testing/people';
import { joinTestEnv, type SharedTestEnv } from '../testing/test-env';

jest.setTimeout(180_000);

const browsers = browserTests();

const ROLES = ['member', 'billing', 'developer', 'admin', 'owner', 'operator'] as const;
type Role = (typeof ROLES)[number];

/** The roles that may do what the key is the lowest role for. */
const AT_LEAST: Readonly<Record<Role, readonly Role[]>> = {
  member: ROLES,
  billing: ['billing', 'admin', 'owner', 'operator'],
  developer: ['developer', 'admin', 'owner', 'operator'],
  admin: ['admin', 'owner', 'operator'],
  owner: ['owner', 'operator'],
  operator: ['operator'],
};

/** Navigation links that every role sees; OFFERED has those of each role. */
const FOR_EVERYONE = [
  'Overview',
  'Keys',
  'Usage',
  'Generations',
  'Credit',
  'Models and prices',
  'Projects',
  'Limits',
  'Content log',
  'Members',
];
const OFFERED: Readonly<Record<Role, readonly string[]>> = {
  member: [],
  billing: [],
  developer: ['Playground'],
  admin: ['Playground', 'Management tokens', 'Audit log'],
  owner: ['Playground', 'Management tokens', 'Audit log'],
  operator: [
    'Playground',
    'Management tokens',
    'Audit log',
    'Organizations',
    'Platform usage',
    'Catalogue',
    'Settlement',
    'Notifications',
    'People',
    'Platform tokens',
    'Platform audit log',
  ],
};

/** Buttons and links that change data, with their page and the lowest role that may use them. */
const ACTIONS: readonly { readonly at: string; readonly action: string; readonly least: Role }[] = [
  { at: '/keys', action: 'Create key', least: 'developer' },
  { at: '/keys/{key}', action: 'Edit', least: 'admin' },
  { at: '/keys/{key}', action: 'Rotate', least: 'admin' },
  { at: '/keys/{key}', action: 'Transfer', least: 'admin' },
  { at: '/keys/{key}', action: 'Revoke', least: 'admin' },
  { at: '/projects', action: 'Create project', least: 'admin' },
  { at: '/projects', action: 'Edit Website', least: 'admin' },
  { at: '/projects', action: 'Archive Website', least: 'admin' },
  { at: '/projects/{project}', action: 'Edit', least: 'admin' },
  { at: '/projects/{project}', action: 'Archive Website', least: 'admin' },
  { at: '/limits', action: 'Edit', least: 'admin' },
  { at: '/limits', action: 'Change ceilings', least: 'operator' },
  { at: '/limits', action: 'Change providers and regions', least: 'admin' },
  { at: '/members', action: 'Invite member', least: 'admin' },
  { at: '/members', action: 'Actions for other-owner@example.com', least: 'owner' },
  { at: '/members', action: 'Actions for other-admin@example.com', least: 'admin' },
  { at: '/credit', action: 'Edit', least: 'billing' },
  { at: '/credit', action: 'Add credit', least: 'operator' },
  { at: '/credit', action: 'Remove credit', least: 'operator' },
];

/** Restricted pages, with the lowest role that may see them. */
const PAGES: readonly { readonly path: string; readonly least: Role }[] = [
  { path: '/o/{organization}/keys/new', least: 'developer' },
  { path: '/o/{organization}/playground', least: 'developer' },
  { path: '/o/{organization}/management-tokens', least: 'admin' },
  { path: '/o/{organization}/audit', least: 'admin' },
  { path: '/operator/organizations', least: 'operator' },
  { path: '/operator/usage', least: 'operator' },
  { path: '/operator/catalogue', least: 'operator' },
  { path: '/operator/settlement', least: 'operator' },
  { path: '/operator/notifications', least: 'operator' },
  { path: '/operator/people', least: 'operator' },
  { path: '/operator/management-tokens', least: 'operator' },
  { path: '/operator/audit', least: 'operator' },
  { path: '/welcome', least: 'operator' },
];

/** Restricted requests, with the lowest role that may send them. Roles that may send them do not do so here. */
const REQUESTS: readonly {
  readonly request: string;
  readonly body?: Readonly<Record<string, unknown>>;
  readonly least: Role;
}[] = [
  { request: 'POST {o}/keys', body: { name: 'stolen', scopes: ['chat'] }, least: 'developer' },
  { request: 'PATCH {o}/keys/{key}', body: { name: 'renamed' }, least: 'admin' },
  { request: 'POST {o}/keys/{key}/rotate', body: { previous_works_until: null }, least: 'admin' },
  { request: 'POST {o}/keys/{key}/transfer', body: { member_id: 'mem-1' }, least: 'admin' },
  { request: 'POST {o}/keys/{key}/revoke', body: {}, least: 'admin' },
  { request: 'PUT {o}/limits', body: { ...NO_LIMITS }, least: 'admin' },
  { request: 'POST {o}/projects', body: { name: 'Mine' }, least: 'admin' },
  {
    request: 'PUT {o}/projects/{project}',
    body: {
      name: 'Mine',
      daily_budget_usd: null,
      weekly_budget_usd: null,
      monthly_budget_usd: null,
      total_budget_usd: null,
    },
    least: 'admin',
  },
  { request: 'POST {o}/projects/{project}/archive', body: {}, least: 'admin' },
  { request: 'PUT {o}/elastic-holds', body: { enabled: false }, least: 'admin' },
  { request: 'PUT {o}/ceilings', body: { ...NO_LIMITS, multiple_completions: true }, least: 'operator' },
  { request: 'POST {o}/invitations', body: { email: 'friend@example.com', role: 'member' }, least: 'admin' },
  { request: 'GET {o}/invitations', least: 'admin' },
  { request: 'POST {o}/invitations', body: { email: 'friend@example.com', role: 'owner' }, least: 'owner' },
  { request: 'PUT {o}/members/{owner}/role', body: { role: 'member' }, least: 'owner' },
  { request: 'DELETE {o}/members/{owner}', least: 'owner' },
  { request: 'PUT {o}/members/{self}/role', body: { role: 'owner' }, least: 'owner' },
  {
    request: 'PUT {o}/credit-alert',
    body: { threshold_usd: '1', webhook_url: null, emails: [] },
    least: 'billing',
  },
  { request: 'GET {o}/audit', least: 'admin' },
  { request: 'POST {o}/playground/key', body: {}, least: 'developer' },
  {
    request: 'POST {o}/management-tokens',
    body: { name: 'stolen', access: 'read_write', role: 'admin', expires_on: '2099-01-01' },
    least: 'admin',
  },
  { request: 'GET {o}/management-tokens', least: 'admin' },
  { request: 'GET /api/management-tokens', least: 'operator' },
  { request: 'POST {o}/credits', body: { amount_usd: '1000' }, least: 'operator' },
  { request: 'POST {o}/corrections/preview', body: { amount_usd: '1', reason: 'no' }, least: 'operator' },
  { request: 'POST {o}/suspend', body: { reason: 'no' }, least: 'operator' },
  { request: 'POST /api/organizations', body: { name: 'Mine' }, least: 'operator' },
  { request: 'GET /api/people', least: 'operator' },
  { request: 'PUT /api/people/{self}/operator', body: { operator: true }, least: 'operator' },
  { request: 'POST /api/people/{owner}/password-reset-link', body: {}, least: 'operator' },
  { request: 'GET /api/audit', least: 'operator' },
  { request: 'GET /api/operator/catalogue', least: 'operator' },
  { request: 'GET /api/operator/catalogue/state', least: 'operator' },
  {
    request: 'PUT /api/operator/catalogue/secrets',
    body: { name: 'stolen', value: 'sk-stolen' },
    least: 'operator',
  },
  { request: 'GET /api/operator/organizations', least: 'operator' },
  { request: 'GET /api/operator/usage', least: 'operator' },
  { request: 'GET /api/operator/requests?id=req-1', least: 'operator' },
  { request: 'GET /api/operator/keys?text=key-1', least: 'operator' },
  {
    request: 'PUT /api/operator/models/disabled',
    body: { model: 'demo/small', disabled: true, reason: 'no' },
    least: 'operator',
  },
  { request: 'GET /api/operator/settlement', least: 'operator' },
  { request: 'GET /api/operator/notifications', least: 'operator' },
  { request: 'GET /api/dead-letters', least: 'operator' },
];

const mayBy = (role: Role, least: Role) => AT_LEAST[least].includes(role);

describe('permissions of each role', () => {
  let testEnv: SharedTestEnv;
  let browser: Browser;
  let organizationId: string;
  let keyId: string;
  let projectId: string;
  let idsByEmail: ReadonlyMap<string, string>;

  const emailOf = (role: Role) => (role === 'operator' ? testEnv.gateway.adminEmail : `${role}@example.com`);

  const startOnce = async () => {
    if (testEnv) return;
    testEnv = await joinTestEnv();
    browser = await browsers.launch();
    ({ organizationId, keyId } = await testEnv.tenant());
    const created = await testEnv.admin.call<{ project: { id: string } }>(
      'POST',
      `/api/organizations/${organizationId}/projects`,
      { name: 'Website' },
    );
    projectId = created.project.id;
    const { dashboardUrl } = testEnv.gateway;
    for (const role of ROLES) {
      if (role === 'operator') continue;
      await personWith(testEnv.admin, dashboardUrl, { organizationId, email: emailOf(role), role });
    }
    for (const role of ['admin', 'owner'] as const) {
      await personWith(testEnv.admin, dashboardUrl, {
        organizationId,
        email: `other-${role}@example.com`,
        role,
      });
    }
    const { data } = await testEnv.admin.call<{ data: { id: string; email: string }[] }>(
      'GET',
      `/api/organizations/${organizationId}/members`,
    );
    idsByEmail = new Map(data.map(({ id, email }) => [email, id]));
  };

  afterAll(async () => {
    await browser?.close();
    await testEnv?.stop();
  });

  const pages = new Map<Role, Page>();

  /** A page of a person with this role, shared by all tests. */
  async function pageOf(role: Role): Promise<Page> {
    const existing = pages.get(role);
    if (existing) return existing;
    const { dashboardUrl, adminPassword } = testEnv.gateway;
    const context = await browser.newContext();
    await takeSession(context, dashboardUrl, emailOf(role), role === 'operator' ? adminPassword : PASSWORD);
    const page = await context.newPage();
    await openPage(page, `${dashboardUrl}/o/${organizationId}`);
    pages.set(role, page);
    return page;
  }
  const state = async () => {
    const path = `/api/organizations/${organizationId}`;
    const call = (method: string, rest: string) =>
      testEnv.admin.call<Record<string, unknown>>(method, path + rest);
    const { key } = await call('GET', `/keys/${keyId}`);
    const { activity: _activity, ...settings } = key as Record<string, unknown>;
    return JSON.stringify([
      settings,
      await call('GET', ''),
      await call('GET', '/balance'),
      await call('GET', '/invitations'),
      await call('GET', '/projects?state=all'),
      ((await call('GET', '/members'))['data'] as { id: string; role: string }[]).map(({ id, role }) => [
        id,
        role,
      ]),
    ]);
  };

  describe.each(ROLES)('%s', (role) => {
    browsers.it('sees exactly the links and actions that the role allows', async () => {
      await startOnce();
      const page = await pageOf(role);
      const offered = await page.getByRole('navigation', { name: 'Main' }).getByRole('link').allInnerTexts();
      expect([...offered].sort()).toEqual([...FOR_EVERYONE, ...OFFERED[role]].sort());

      const seen: string[] = [];
      for (const at of new Set(ACTIONS.map(({ at: path }) => path))) {
        await followPath(
          page,
          `/o/${organizationId}${at.replace('{key}', keyId).replace('{project}', projectId)}`,
        );
        for (const { action } of ACTIONS.filter((one) => one.at === at)) {
          const element = page
            .getByRole('button', { name: action, exact: true })
            .or(page.getByRole('link', { name: action, exact: true }));
          if (mayBy(role, least(at, action))) await element.first().waitFor();
          if ((await element.count()) > 0) seen.push(`${at} ${action}`);
        }
      }
      expect(seen).toEqual(
        ACTIONS.filter((one) => mayBy(role, one.least)).map(({ at, action }) => `${at} ${action}`),
      );
    });

    browsers.it('cannot open the page of a higher role by its URL', async () => {
      await startOnce();
      const page = await pageOf(role);
      for (const { path, least: leastRole } of PAGES) {
        await followPath(page, path.replace('{organization}', organizationId));
        const denied = await page.getByText('You don’t have access').count();
        expect([path, denied === 0]).toEqual([path, mayBy(role, leastRole)]);
      }
    });

    browsers.it('gets an error from the server for every forbidden request, without any effect', async () => {
      await startOnce();
      const page = await pageOf(role);
      const before = await state();
      const forbidden = REQUESTS.filter((one) => !mayBy(role, one.least));
      for (const { request, body } of forbidden) {
        const [method = '', path = ''] = request.split(' ');
        const url = path
          .replace('{o}', `/api/organizations/${organizationId}`)
          .replace('{key}', keyId)
          .replace('{project}', projectId)
          .replace('{owner}', idsByEmail.get('other-owner@example.com') ?? '')
          .replace('{self}', idsByEmail.get(emailOf(role)) ?? '');
        // Sent from the page with its session, like the page's own requests.
        const outcome = await page.evaluate<string>(
          `fetch(${JSON.stringify(url)}, ${JSON.stringify({
            method,
            headers: { 'content-type': 'application/json' },
            ...(body === undefined ? {} : { body: JSON.stringify(body) }),
          })}).then(async (response) => response.status + ' ' + (await response.json()).error?.code)`,
        );
        expect([request, outcome]).toEqual([request, '403 forbidden']);
      }
      expect(await state()).toBe(before);
    });
  });

  const least = (at: string, action: string) =>
    ACTIONS.find((one) => one.at === at && one.action === action)?.least ?? 'operator';
});
