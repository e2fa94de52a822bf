import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  browserTests,
  complaintsOf,
  type Browser,
  type BrowserContext,
  type Page,
} from '../support/chromium';
import { takeSession } from '../support/dashboard-page';
import { startWorld, type World } from '../support/world';

jest.setTimeout(180_000);

const browsers = browserTests();

/** Would run when it was written into a page as HTML, and each says so by the same call. */
const MARKUP = [
  '<img src=x onerror="window.ran=1">',
  '<script>window.ran=1</script>',
  '"><svg onload="window.ran=1">',
  "javascript:window.ran=1//'",
  '{{constructor.constructor("window.ran=1")()}}',
];
/** Turns the text after it round: "moc.live" for "evil.com". */
const TURNED = 'safe\u202Emoc.live\u200B';

describe('the dashboard against those who mean harm', () => {
  let world: World;
  let browser: Browser;
  let context: BrowserContext;
  let elsewhere: Server;

  const begin = async () => {
    if (world) return;
    world = await startWorld();
    browser = await browsers.launch();
    context = await browser.newContext();
    const { dashboardUrl, adminEmail, adminPassword } = world.gateway;
    await takeSession(context, dashboardUrl, adminEmail, adminPassword);
    elsewhere = createServer((_request, response) =>
      response
        .setHeader('content-type', 'text/html')
        .end('<!doctype html><title>elsewhere</title><body></body>'),
    ).listen(0, '127.0.0.1');
    await new Promise((resolve) => elsewhere.once('listening', resolve));
  };

  afterAll(async () => {
    await browser?.close();
    await new Promise((resolve) => (elsewhere ? elsewhere.close(resolve) : resolve(undefined)));
    await world?.stop();
  });

  /** A page of another site: the same machine under a name of its own. */
  const otherSite = () => `http://localhost:${(elsewhere.address() as AddressInfo).port}`;
  const ran = (page: Page) => page.evaluate<boolean>(`'ran' in window`);

  browsers.it('shows what somebody typed as text, wherever it appears', async () => {
    await begin();
    const { dashboardUrl } = world.gateway;
    const page = await context.newPage();
    const complaints = complaintsOf(page);
    for (const text of MARKUP) {
      const name = text.slice(0, 100);
      const { organization } = await world.admin.call<{ organization: { id: string } }>(
        'POST',
        '/api/organizations',
        { name },
      );
      const path = `/api/organizations/${organization.id}`;
      await world.admin.call('POST', `${path}/credits`, { amount_usd: '1', note: text });
      const { key } = await world.admin.call<{ key: { id: string } }>('POST', `${path}/keys`, {
        name,
        scopes: ['chat'],
      });
      await world.admin.call('POST', `${path}/suspend`, { reason: text });
      for (const place of ['', '/keys', `/keys/${key.id}`, '/credit', '/audit', '/members', '/limits']) {
        await page.goto(`${dashboardUrl}/o/${organization.id}${place}`);
        await page.getByRole('heading', { level: 1 }).waitFor();
        expect([place, await ran(page)]).toEqual([place, false]);
      }
      await page.goto(`${dashboardUrl}/o/${organization.id}/keys/${key.id}`);
      await page.getByRole('heading', { name, level: 1 }).waitFor();
    }
    await page.goto(`${dashboardUrl}/operator/organizations`);
    await page.getByRole('link', { name: MARKUP[0] }).waitFor();
    await page.goto(`${dashboardUrl}/operator/audit?target=${encodeURIComponent(MARKUP[0] ?? '')}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    expect(await ran(page)).toBe(false);
    expect(complaints).toEqual([]);
    await page.close();
  });

  browsers.it(
    'shows characters that nobody sees by their numbers, so that a name cannot pass for another',
    async () => {
      await begin();
      const { organizationId } = await world.tenant();
      const path = `/api/organizations/${organizationId}`;
      // Names with them are refused; a note keeps what was written, since it is about the past.
      await expect(
        world.admin.call('POST', `${path}/keys`, { name: TURNED, scopes: ['chat'] }),
      ).rejects.toThrow('400');
      await world.admin.call('POST', `${path}/suspend`, { reason: 'an honest reason' });
      const page = await context.newPage();
      await page.goto(
        `${world.gateway.dashboardUrl}/o/${organizationId}/audit?target=${encodeURIComponent(TURNED)}`,
      );
      await page.getByText('No entry is like that').waitFor();
      expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe('Audit log');
      await page.close();
    },
  );

  browsers.it('lets no page of another site change or read anything with the visitor’s session', async () => {
    await begin();
    const { dashboardUrl } = world.gateway;
    const { organizationId } = await world.tenant();
    const page = await context.newPage();
    await page.goto(otherSite());
    const suspend = JSON.stringify(`${dashboardUrl}/api/organizations/${organizationId}/suspend`);
    const outcomes = await page.evaluate<string[]>(`Promise.all([
      [${suspend}, { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } }],
      [${suspend}, { method: 'POST', body: '{}', mode: 'no-cors', headers: { 'content-type': 'text/plain' } }],
      [${JSON.stringify(`${dashboardUrl}/api/session`)}, {}],
    ].map(([url, init]) => fetch(url, { credentials: 'include', ...init }).then(
      (answer) => answer.type === 'opaque' ? 'opaque' : 'read ' + answer.status,
      () => 'refused',
    )))`);
    // Neither read, nor what they ask for done, as is seen below.
    expect(outcomes).toEqual(['refused', 'refused', 'refused']);
    // A form needs nobody's leave to be sent.
    await page.setContent(
      `<form method="post" enctype="text/plain" action=${suspend}><button>Send</button></form>`,
    );
    await page.getByRole('button').click();
    await page.waitForURL(/suspend$/);
    const { organization } = await world.admin.call<{ organization: { suspended: boolean } }>(
      'GET',
      `/api/organizations/${organizationId}`,
    );
    expect(organization.suspended).toBe(false);
    await page.close();
  });

  browsers.it('is framed by no other page', async () => {
    await begin();
    const page = await context.newPage();
    await page.goto(otherSite());
    const refused = page.waitForEvent('console', (message) => /frame-ancestors/.test(message.text()));
    await page.setContent(`<iframe src="${world.gateway.dashboardUrl}"></iframe>`);
    await refused;
    await page.close();
  });

  browsers.it('goes to no other site after signing in, whatever the address asks for', async () => {
    await begin();
    const { dashboardUrl, adminEmail, adminPassword } = world.gateway;
    for (const next of [otherSite(), '//localhost:1/', '/\\localhost:1/', 'javascript:alert(1)']) {
      const stranger = await browser.newContext();
      const page = await stranger.newPage();
      await page.goto(`${dashboardUrl}/sign-in?next=${encodeURIComponent(next)}`);
      await page.getByLabel('Email').fill(adminEmail);
      await page.getByLabel('Password').fill(adminPassword);
      await page.getByRole('button', { name: 'Sign in', exact: true }).click();
      await page.getByRole('navigation', { name: 'Main' }).waitFor();
      expect(new URL(page.url()).origin).toBe(dashboardUrl);
      await stranger.close();
    }
  });

  browsers.it('gives a new session at sign-in, so that one that was planted is worth nothing', async () => {
    await begin();
    const { dashboardUrl, adminEmail, adminPassword } = world.gateway;
    const planted = await browser.newContext();
    await planted.addCookies([
      { name: 'gateway_session', value: 'planted', url: dashboardUrl, httpOnly: true, sameSite: 'Strict' },
    ]);
    await takeSession(planted, dashboardUrl, adminEmail, adminPassword);
    const [cookie] = await planted.cookies();
    expect(cookie).toMatchObject({ name: 'gateway_session', httpOnly: true, sameSite: 'Strict' });
    expect(cookie?.value).not.toBe('planted');
    await planted.close();
  });

  browsers.it('shows the reference of the public API at /docs without breaking its policy', async () => {
    await begin();
    const page = await context.newPage();
    const complaints = complaintsOf(page);
    await page.goto(`${world.gateway.dashboardUrl}/docs`);
    await page.getByText('/v1/chat/completions').first().waitFor();
    expect(complaints).toEqual([]);
    await page.close();
  });
});
