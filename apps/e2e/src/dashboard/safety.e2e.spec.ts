import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { findFreePort } from '@gateway/database';
import { browserTests, collectPageErrors, type Browser, type BrowserContext } from '../testing/chromium';
import { screenOpener, takeSession } from '../testing/dashboard-page';
import { field } from '../testing/field';
import { seedHostile } from '../testing/hostile';
import { screens, type Screen } from '../testing/screens';
import { startTestEnv, type TestEnv } from '../testing/test-env';

jest.setTimeout(180_000);

const browsers = browserTests();

/** Each would run as code if a page inserted it as HTML, and then sets `window.ran`. */
const MARKUP = [
  '<img src=x onerror="window.ran=1">',
  '<script>window.ran=1</script>',
  '"><svg onload="window.ran=1">',
  "javascript:window.ran=1//'",
  '{{constructor.constructor("window.ran=1")()}}',
];
/** Reverses the text after it, so that "moc.live" is displayed as "evil.com". */
const REVERSED = 'safe\u202Emoc.live';

interface Inspection {
  /** User input was executed as code. */
  readonly ran: boolean;
  /** Texts with invisible characters, such as those that reverse other text. */
  readonly withInvisible: readonly string[];
  readonly text: string;
}

/** Runs in the page: collects what eyes and screen readers read. Input fields show text as it was typed. */
const INSPECT = `(() => {
  const texts = [document.title];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (node.nodeType === Node.TEXT_NODE) {
      if (node.parentElement.tagName !== 'TEXTAREA') texts.push(node.data);
    } else for (const name of ['title', 'aria-label', 'alt', 'placeholder']) texts.push(node.getAttribute(name) ?? '');
  }
  const withInvisible = texts.filter((text) => /[\\u061c\\u200b\\u200e\\u200f\\u202a-\\u202e\\u2060-\\u2069\\ufeff]/.test(text));
  return { ran: 'ran' in window, withInvisible, text: texts.join('\\n') };
})()`;

describe('the dashboard under attack', () => {
  let testEnv: TestEnv;
  let browser: Browser;
  let context: BrowserContext;
  let otherServer: Server;

  const startOnce = async () => {
    if (testEnv) return;
    // The playground calls the public API from the dashboard's origin, which CORS needs to know at startup.
    const env = { GATEWAY_DASHBOARD_PORT: String(await findFreePort()), GATEWAY_CATALOGUE: 'database' };
    testEnv = await startTestEnv({ env });
    browser = await browsers.launch();
    context = await browser.newContext();
    const { dashboardUrl, adminEmail, adminPassword } = testEnv.gateway;
    await takeSession(context, dashboardUrl, adminEmail, adminPassword);
    otherServer = createServer((_request, response) =>
      response
        .setHeader('content-type', 'text/html')
        .end('<!doctype html><title>Other site</title><body></body>'),
    ).listen(0, '127.0.0.1');
    await new Promise((resolve) => otherServer.once('listening', resolve));
  };

  afterAll(async () => {
    await browser?.close();
    await new Promise((resolve) => (otherServer ? otherServer.close(resolve) : resolve(undefined)));
    await testEnv?.stop();
  });

  /** Another site: the same machine under another host name. */
  const otherSite = () => `http://localhost:${(otherServer.address() as AddressInfo).port}`;

  browsers.it('shows user input as text on every page, and makes invisible characters visible', async () => {
    await startOnce();
    const { ids, paths, shown } = await seedHostile(testEnv, [...MARKUP, REVERSED]);
    const allScreens: readonly Screen[] = [
      ...screens(ids).filter(({ signedOut, name }) => !signedOut && !name.startsWith('empty-')),
      ...paths.map((path) => ({ name: path, path })),
    ];
    const page = await context.newPage();
    const pageErrors = collectPageErrors(page);
    const problems: Record<string, unknown> = {};
    const found = new Set<string>();
    const open = screenOpener(page, testEnv.gateway.dashboardUrl);
    for (const screen of allScreens) {
      await open(screen);
      const { ran, withInvisible, text } = await page.evaluate<Inspection>(INSPECT);
      if (ran || withInvisible.length > 0) problems[screen.name] = { ran, withInvisible };
      for (const one of shown.filter((typed) => text.includes(typed))) found.add(one);
    }
    expect(problems).toEqual({});
    expect(pageErrors).toEqual([]);
    // Every text appeared on some page, so none was skipped.
    expect(shown.filter((typed) => !found.has(typed))).toEqual([]);
    await page.close();
  });

  browsers.it('shows prompts and model output as text', async () => {
    await startOnce();
    const { organizationId } = await testEnv.tenant();
    const page = await context.newPage();
    const pageErrors = collectPageErrors(page);
    await page.goto(`${testEnv.gateway.dashboardUrl}/o/${organizationId}/playground?model=demo/standard`);
    for (const [number, text] of [...MARKUP, REVERSED].entries()) {
      await field(page, 'Message').fill(`[[say:${text}]]`);
      await page.getByText(/^Max \$/).waitFor();
      await page.getByRole('button', { name: 'Send' }).click();
      await page.getByRole('link', { name: 'Details' }).nth(number).waitFor();
    }
    const { ran, withInvisible, text } = await page.evaluate<Inspection>(INSPECT);
    expect([ran, withInvisible]).toEqual([false, []]);
    for (const typed of MARKUP) expect(text).toContain(typed);
    expect(text).toContain('safe⟨U+202E⟩moc.live');
    expect(pageErrors).toEqual([]);
    await page.close();
  });

  browsers.it(
    'prevents pages of another site from reading or changing data with the session of a visitor',
    async () => {
      await startOnce();
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
      (response) => response.type === 'opaque' ? 'opaque' : 'read ' + response.status,
      () => 'blocked',
    )))`);
      // Responses are unreadable, and the check below shows that the requests had no effect.
      expect(outcomes).toEqual(['blocked', 'blocked', 'blocked']);
      // Forms are sent without a CORS preflight.
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
    },
  );

  browsers.it('cannot be framed by another site', async () => {
    await startOnce();
    const page = await context.newPage();
    await page.goto(otherSite());
    const violation = page.waitForEvent('console', (message) => /frame-ancestors/.test(message.text()));
    await page.setContent(`<iframe src="${testEnv.gateway.dashboardUrl}"></iframe>`);
    await violation;
    await page.close();
  });

  browsers.it('never redirects to another site after sign-in, whatever `next` says', async () => {
    await startOnce();
    const { dashboardUrl, adminEmail, adminPassword } = testEnv.gateway;
    for (const next of [otherSite(), '//localhost:1/', '/\\localhost:1/', 'javascript:alert(1)']) {
      const visitor = await browser.newContext();
      const page = await visitor.newPage();
      await page.goto(`${dashboardUrl}/sign-in?next=${encodeURIComponent(next)}`);
      await field(page, 'Email').fill(adminEmail);
      await field(page, 'Password').fill(adminPassword);
      await page.getByRole('button', { name: 'Sign in', exact: true }).click();
      await page.getByRole('navigation', { name: 'Main' }).waitFor();
      expect(new URL(page.url()).origin).toBe(dashboardUrl);
      await visitor.close();
    }
  });

  browsers.it('creates a new session at sign-in, so that session fixation fails', async () => {
    await startOnce();
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

  browsers.it('shows the API reference at /docs without violating its content security policy', async () => {
    await startOnce();
    const page = await context.newPage();
    const pageErrors = collectPageErrors(page);
    await page.goto(`${testEnv.gateway.dashboardUrl}/docs`);
    await page.getByText('/v1/chat/completions').first().waitFor();
    expect(pageErrors).toEqual([]);
    await page.close();
  });
});
