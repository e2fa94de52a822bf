import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { findFreePort } from '@gateway/database';
import { browserTests, complaintsOf, type Browser, type BrowserContext } from '../testing/chromium';
import { takeSession } from '../testing/dashboard-page';
import { seedHostile } from '../testing/hostile';
import { screens, type Screen } from '../testing/screens';
import { startTestEnv, type TestEnv } from '../testing/test-env';

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
const TURNED = 'safe\u202Emoc.live';

interface LookedAt {
  /** Something of what was typed ran as a program. */
  readonly ran: boolean;
  /** Texts with characters that turn others round and are not seen themselves. */
  readonly unseen: readonly string[];
  readonly text: string;
}

/** In the page: what it says to eyes and to screen readers. What stands in fields is as it was typed. */
const LOOK = `(() => {
  const texts = [document.title];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (node.nodeType === Node.TEXT_NODE) {
      if (node.parentElement.tagName !== 'TEXTAREA') texts.push(node.data);
    } else for (const name of ['title', 'aria-label', 'alt', 'placeholder']) texts.push(node.getAttribute(name) ?? '');
  }
  const unseen = texts.filter((text) => /[\\u061c\\u200b\\u200e\\u200f\\u202a-\\u202e\\u2060-\\u2069\\ufeff]/.test(text));
  return { ran: 'ran' in window, unseen, text: texts.join('\\n') };
})()`;

describe('the dashboard against those who mean harm', () => {
  let testEnv: TestEnv;
  let browser: Browser;
  let context: BrowserContext;
  let elsewhere: Server;

  const begin = async () => {
    if (testEnv) return;
    // The playground calls the public API from the dashboard's origin, which has to be known at the start.
    testEnv = await startTestEnv({ env: { GATEWAY_DASHBOARD_PORT: String(await findFreePort()) } });
    browser = await browsers.launch();
    context = await browser.newContext();
    const { dashboardUrl, adminEmail, adminPassword } = testEnv.gateway;
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
    await testEnv?.stop();
  });

  /** A page of another site: the same machine under a name of its own. */
  const otherSite = () => `http://localhost:${(elsewhere.address() as AddressInfo).port}`;

  browsers.it('shows what somebody typed as text on every page, and nothing that nobody sees', async () => {
    await begin();
    const { ids, paths, shown } = await seedHostile(testEnv, [...MARKUP, TURNED]);
    const places: readonly Screen[] = [
      ...screens(ids).filter(({ signedOut, name }) => !signedOut && !name.startsWith('empty-')),
      ...paths.map((path) => ({ name: path, path })),
    ];
    const page = await context.newPage();
    const complaints = complaintsOf(page);
    const faults: Record<string, unknown> = {};
    const found = new Set<string>();
    for (const screen of places) {
      await page.goto(testEnv.gateway.dashboardUrl + screen.path);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await screen.prepare?.(page);
      await page.getByText('Loading', { exact: true }).first().waitFor({ state: 'detached' });
      const { ran, unseen, text } = await page.evaluate<LookedAt>(LOOK);
      if (ran || unseen.length > 0) faults[screen.name] = { ran, unseen };
      for (const one of shown.filter((typed) => text.includes(typed))) found.add(one);
      await page.unrouteAll();
    }
    expect(faults).toEqual({});
    expect(complaints).toEqual([]);
    // All of it was there to be seen, so that none was passed over.
    expect(shown.filter((typed) => !found.has(typed))).toEqual([]);
    await page.close();
  });

  browsers.it('shows what a model and its asker write as text, too', async () => {
    await begin();
    const { organizationId } = await testEnv.tenant();
    const page = await context.newPage();
    const complaints = complaintsOf(page);
    await page.goto(`${testEnv.gateway.dashboardUrl}/o/${organizationId}/playground?model=demo/standard`);
    for (const [number, text] of [...MARKUP, TURNED].entries()) {
      await page.getByLabel('Message').fill(`[[say:${text}]]`);
      await page.getByText(/^Max \$/).waitFor();
      await page.getByRole('button', { name: 'Send' }).click();
      await page.getByRole('link', { name: 'Details' }).nth(number).waitFor();
    }
    const { ran, unseen, text } = await page.evaluate<LookedAt>(LOOK);
    expect([ran, unseen]).toEqual([false, []]);
    for (const typed of MARKUP) expect(text).toContain(typed);
    expect(text).toContain('safe⟨U+202E⟩moc.live');
    expect(complaints).toEqual([]);
    await page.close();
  });

  browsers.it('lets no page of another site change or read anything with the visitor’s session', async () => {
    await begin();
    const { dashboardUrl } = testEnv.gateway;
    const { organizationId } = await testEnv.tenant();
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
    const { organization } = await testEnv.admin.call<{ organization: { suspended: boolean } }>(
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
    await page.setContent(`<iframe src="${testEnv.gateway.dashboardUrl}"></iframe>`);
    await refused;
    await page.close();
  });

  browsers.it('goes to no other site after signing in, whatever the address asks for', async () => {
    await begin();
    const { dashboardUrl, adminEmail, adminPassword } = testEnv.gateway;
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
    const { dashboardUrl, adminEmail, adminPassword } = testEnv.gateway;
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
    await page.goto(`${testEnv.gateway.dashboardUrl}/docs`);
    await page.getByText('/v1/chat/completions').first().waitFor();
    expect(complaints).toEqual([]);
    await page.close();
  });
});
