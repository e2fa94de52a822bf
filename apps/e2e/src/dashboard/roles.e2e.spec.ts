import { NO_LIMITS } from '@gateway/test-support';
import { browserTests, type Browser, type Page } from '../testing/chromium';
import { takeSession } from '../testing/dashboard-page';
import { PASSWORD, personWith } from '../testing/people';
import { startTestEnv, type TestEnv } from '../testing/test-env';

jest.setTimeout(180_000);

const browsers = browserTests();

const ROLES = ['member', 'admin', 'owner', 'operator'] as const;
type Role = (typeof ROLES)[number];

/** What the navigation offers beside what everybody sees. */
const EVERYBODYS = ['Overview', 'Keys', 'Usage', 'Generations', 'Credit', 'Limits', 'Members'];
const OFFERED: Readonly<Record<Role, readonly string[]>> = {
  member: [],
  admin: ['Playground', 'Audit log'],
  owner: ['Playground', 'Audit log'],
  operator: [
    'Playground',
    'Audit log',
    'Organizations',
    'Models',
    'Providers',
    'Settlement',
    'People',
    'Platform audit log',
  ],
};

/** Buttons and links that change something, where they are, and the least role that is offered them. */
const ACTIONS: readonly { readonly at: string; readonly action: string; readonly least: Role }[] = [
  { at: '/keys', action: 'Create key', least: 'admin' },
  { at: '/keys/{key}', action: 'Edit', least: 'admin' },
  { at: '/keys/{key}', action: 'Rotate', least: 'admin' },
  { at: '/keys/{key}', action: 'Revoke', least: 'admin' },
  { at: '/limits', action: 'Edit', least: 'admin' },
  { at: '/members', action: 'Invite member', least: 'admin' },
  { at: '/members', action: 'Actions for other-owner@example.com', least: 'owner' },
  { at: '/members', action: 'Actions for other-admin@example.com', least: 'admin' },
  { at: '/credit', action: 'Edit', least: 'admin' },
  { at: '/credit', action: 'Add credit', least: 'operator' },
  { at: '/credit', action: 'Remove credit', least: 'operator' },
];

/** Pages that are not for everybody, by their addresses. */
const PAGES: readonly { readonly path: string; readonly least: Role }[] = [
  { path: '/o/{organization}/keys/new', least: 'admin' },
  { path: '/o/{organization}/playground', least: 'admin' },
  { path: '/o/{organization}/audit', least: 'admin' },
  { path: '/operator/organizations', least: 'operator' },
  { path: '/operator/models', least: 'operator' },
  { path: '/operator/providers', least: 'operator' },
  { path: '/operator/settlement', least: 'operator' },
  { path: '/operator/people', least: 'operator' },
  { path: '/operator/audit', least: 'operator' },
  { path: '/welcome', least: 'operator' },
];

/** Requests that would do something, with the least role that may; those who may do not send them here. */
const REQUESTS: readonly {
  readonly line: string;
  readonly body?: Readonly<Record<string, unknown>>;
  readonly least: Role;
}[] = [
  { line: 'POST {o}/keys', body: { name: 'stolen', scopes: ['chat'] }, least: 'admin' },
  { line: 'PATCH {o}/keys/{key}', body: { name: 'renamed' }, least: 'admin' },
  { line: 'POST {o}/keys/{key}/rotate', body: {}, least: 'admin' },
  { line: 'POST {o}/keys/{key}/revoke', body: {}, least: 'admin' },
  { line: 'PUT {o}/limits', body: { ...NO_LIMITS, multiple_completions: true }, least: 'admin' },
  { line: 'POST {o}/invitations', body: { email: 'friend@example.com', role: 'member' }, least: 'admin' },
  { line: 'GET {o}/invitations', least: 'admin' },
  { line: 'POST {o}/invitations', body: { email: 'friend@example.com', role: 'owner' }, least: 'owner' },
  { line: 'PUT {o}/members/{owner}/role', body: { role: 'member' }, least: 'owner' },
  { line: 'DELETE {o}/members/{owner}', least: 'owner' },
  { line: 'PUT {o}/members/{self}/role', body: { role: 'owner' }, least: 'owner' },
  {
    line: 'PUT {o}/credit-alert',
    body: { threshold_usd: '1', webhook_url: null, emails: [] },
    least: 'admin',
  },
  { line: 'GET {o}/audit', least: 'admin' },
  { line: 'POST {o}/playground/key', body: {}, least: 'admin' },
  { line: 'POST {o}/credits', body: { amount_usd: '1000' }, least: 'operator' },
  { line: 'POST {o}/corrections/preview', body: { amount_usd: '1', reason: 'no' }, least: 'operator' },
  { line: 'POST {o}/suspend', body: { reason: 'no' }, least: 'operator' },
  { line: 'POST /api/organizations', body: { name: 'Mine' }, least: 'operator' },
  { line: 'GET /api/people', least: 'operator' },
  { line: 'PUT /api/people/{self}/operator', body: { operator: true }, least: 'operator' },
  { line: 'POST /api/people/{owner}/password-reset-link', body: {}, least: 'operator' },
  { line: 'GET /api/audit', least: 'operator' },
  { line: 'GET /api/operator/catalogue', least: 'operator' },
  { line: 'GET /api/operator/settlement', least: 'operator' },
  { line: 'GET /api/dead-letters', least: 'operator' },
];

const mayBy = (role: Role, least: Role) => ROLES.indexOf(role) >= ROLES.indexOf(least);

describe('what each role may not', () => {
  let testEnv: TestEnv;
  let browser: Browser;
  let organizationId: string;
  let keyId: string;
  let idsByEmail: ReadonlyMap<string, string>;

  const emailOf = (role: Role) => (role === 'operator' ? testEnv.gateway.adminEmail : `${role}@example.com`);

  const begin = async () => {
    if (testEnv) return;
    testEnv = await startTestEnv();
    browser = await browsers.launch();
    ({ organizationId, keyId } = await testEnv.tenant());
    const { dashboardUrl } = testEnv.gateway;
    for (const role of ['member', 'admin', 'owner'] as const) {
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

  /** Of somebody with this role, the same for all tests. */
  async function pageOf(role: Role): Promise<Page> {
    const known = pages.get(role);
    if (known) return known;
    const { dashboardUrl, adminPassword } = testEnv.gateway;
    const context = await browser.newContext();
    await takeSession(context, dashboardUrl, emailOf(role), role === 'operator' ? adminPassword : PASSWORD);
    const page = await context.newPage();
    pages.set(role, page);
    return page;
  }
  const open = async (page: Page, path: string) => {
    await page.goto(testEnv.gateway.dashboardUrl + path);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.getByText('Loading', { exact: true }).first().waitFor({ state: 'detached' });
  };
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
      ((await call('GET', '/members'))['data'] as { id: string; role: string }[]).map(({ id, role }) => [
        id,
        role,
      ]),
    ]);
  };

  describe.each(ROLES)('%s', (role) => {
    browsers.it('is offered the pages and actions that are allowed, and no others', async () => {
      await begin();
      const page = await pageOf(role);
      await open(page, `/o/${organizationId}`);
      const offered = await page.getByRole('navigation', { name: 'Main' }).getByRole('link').allInnerTexts();
      expect([...offered].sort()).toEqual([...EVERYBODYS, ...OFFERED[role]].sort());

      const seen: string[] = [];
      for (const at of new Set(ACTIONS.map(({ at: place }) => place))) {
        await open(page, `/o/${organizationId}${at.replace('{key}', keyId)}`);
        for (const { action } of ACTIONS.filter((one) => one.at === at)) {
          const there = page
            .getByRole('button', { name: action, exact: true })
            .or(page.getByRole('link', { name: action, exact: true }));
          if (mayBy(role, least(at, action))) await there.first().waitFor();
          if ((await there.count()) > 0) seen.push(`${at} ${action}`);
        }
      }
      expect(seen).toEqual(
        ACTIONS.filter((one) => mayBy(role, one.least)).map(({ at, action }) => `${at} ${action}`),
      );
    });

    browsers.it('is shown no page by its address that is not for the role', async () => {
      await begin();
      const page = await pageOf(role);
      for (const { path, least: leastRole } of PAGES) {
        await open(page, path.replace('{organization}', organizationId));
        const refused = await page.getByText('You don’t have access').count();
        expect([path, refused === 0]).toEqual([path, mayBy(role, leastRole)]);
      }
    });

    browsers.it(
      'is refused by the server what the pages do not offer, and nothing has happened',
      async () => {
        await begin();
        const page = await pageOf(role);
        await open(page, `/o/${organizationId}`);
        const before = await state();
        const forbidden = REQUESTS.filter((one) => !mayBy(role, one.least));
        for (const { line, body } of forbidden) {
          const [method = '', path = ''] = line.split(' ');
          const url = path
            .replace('{o}', `/api/organizations/${organizationId}`)
            .replace('{key}', keyId)
            .replace('{owner}', idsByEmail.get('other-owner@example.com') ?? '')
            .replace('{self}', idsByEmail.get(emailOf(role)) ?? '');
          // From the page itself, with its session, as a script of its own would.
          const outcome = await page.evaluate<string>(
            `fetch(${JSON.stringify(url)}, ${JSON.stringify({
              method,
              headers: { 'content-type': 'application/json' },
              ...(body === undefined ? {} : { body: JSON.stringify(body) }),
            })}).then(async (answer) => answer.status + ' ' + (await answer.json()).error?.code)`,
          );
          expect([line, outcome]).toEqual([line, '403 forbidden']);
        }
        expect(await state()).toBe(before);
      },
    );
  });

  const least = (at: string, action: string) =>
    ACTIONS.find((one) => one.at === at && one.action === action)?.least ?? 'operator';
});
