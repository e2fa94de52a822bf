import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { browserTests, collectPageErrors, type Browser, type BrowserContext } from '../testing/chromium';
import { signInAgain, takeSession } from '../testing/dashboard-page';
import { eventually } from '../testing/eventually';
import { field } from '../testing/field';
import { screens, type Screen } from '../testing/screens';
import { startTestEnv, type TestEnv } from '../testing/test-env';

jest.setTimeout(180_000);

/** Gives the page time to react between two presses. */
const ESCAPE_INTERVAL_MS = 300;

const browsers = browserTests();

const UNAVAILABLE = {
  status: 503,
  headers: { 'content-type': 'application/json', 'x-request-id': 'req-of-the-failure' },
  body: JSON.stringify({
    error: {
      code: 'unavailable',
      type: 'service_unavailable_error',
      message: 'Try again.',
      metadata: {},
    },
  }),
};

/** Pages that show only a loading state until the API responds. Other tests cover the other pages. */
const loadsData = ({ signedOut, prepare, name }: Screen) =>
  !signedOut && !prepare && !name.startsWith('empty-') && !['not-found', 'account', 'new-key'].includes(name);

describe('the dashboard with a slow or failing API, or without a mouse', () => {
  let testEnv: TestEnv;
  let browser: Browser;
  let context: BrowserContext;
  let otherServer: Server;

  const startOnce = async () => {
    if (testEnv) return;
    otherServer = createServer((_request, response) =>
      response.setHeader('content-type', 'text/html').end('<!doctype html><title>Other site</title>'),
    ).listen(0, '127.0.0.1');
    await new Promise((resolve) => otherServer.once('listening', resolve));
    testEnv = await startTestEnv({ env: { GATEWAY_CORS_ORIGINS: otherSite() } });
    browser = await browsers.launch();
    context = await browser.newContext();
    const { dashboardUrl, adminEmail, adminPassword } = testEnv.gateway;
    await takeSession(context, dashboardUrl, adminEmail, adminPassword);
  };
  const otherSite = () => `http://localhost:${(otherServer.address() as AddressInfo).port}`;

  afterAll(async () => {
    await browser?.close();
    await new Promise((resolve) => (otherServer ? otherServer.close(resolve) : resolve(undefined)));
    await testEnv?.stop();
  });

  browsers.it(
    'shows a loading state while the API is slow, the error when it fails, and recovers',
    async () => {
      await startOnce();
      const { organizationId } = await testEnv.tenant();
      const page = await context.newPage();
      let mode: 'wait' | 'fail' | 'serve' = 'wait';
      const pending: (() => void)[] = [];
      await page.route('**/api/organizations/*/keys?*', async (route) => {
        if (mode === 'wait') await new Promise<void>((resolve) => pending.push(resolve));
        if (mode === 'serve') await route.continue();
        else {
          await route.fulfill({
            status: 503,
            headers: { 'content-type': 'application/json', 'x-request-id': 'req-slow' },
            body: JSON.stringify({
              error: {
                code: 'unavailable',
                type: 'service_unavailable_error',
                message: 'Try again.',
                metadata: {},
              },
            }),
          });
        }
      });
      await page.goto(`${testEnv.gateway.dashboardUrl}/o/${organizationId}/keys`);
      await page.getByText('Loading', { exact: true }).waitFor();
      mode = 'fail';
      pending.forEach((resume) => resume());
      await page.getByText('Couldn’t load keys').waitFor();
      await page.getByText('req-slow').waitFor();
      mode = 'serve';
      await page.getByRole('button', { name: 'Try again' }).click();
      await page.getByRole('link', { name: 'test key' }).waitFor();
      await page.close();
    },
  );

  browsers.it('shows a loading and an error state on every page, and recovers', async () => {
    await startOnce();
    const { organizationId, keyId, apiKey } = await testEnv.tenant();
    const { id: generationId } = await testEnv.client(apiKey).chat.completions.create({
      model: 'demo/small',
      max_tokens: 10,
      messages: [{ role: 'user', content: 'Hello!' }],
    });
    const { project } = await testEnv.admin.call<{ project: { id: string } }>(
      ...(['POST', `/api/organizations/${organizationId}/projects`, { name: 'Website' }] as const),
    );
    const ids = { organizationId, emptyId: organizationId, keyId, projectId: project.id, generationId };
    const found: Record<string, unknown> = {};
    // All screens share a browser tab, because opening one takes as long as the rest.
    const page = await context.newPage();
    const pageErrors = collectPageErrors(page);
    for (const { name, path } of screens(ids).filter(loadsData)) {
      let mode: 'wait' | 'fail' | 'serve' = 'wait';
      const pending: (() => void)[] = [];
      await page.route('**/api/**', async (route) => {
        // The session and the organizations load before any page.
        if (/\/api\/(session|organizations)$|\/api\/organizations\?/.test(route.request().url())) {
          if (!path.endsWith('/organizations')) return route.continue();
        }
        if (/\/api\/session$/.test(route.request().url())) return route.continue();
        if (mode === 'wait') await new Promise<void>((resolve) => pending.push(resolve));
        // The page may be closed by now.
        await (mode === 'serve' ? route.continue() : route.fulfill(UNAVAILABLE)).catch(() => undefined);
      });
      await page.goto(testEnv.gateway.dashboardUrl + path);
      await page.getByRole('heading', { level: 1 }).waitFor();
      const loading = page.locator('main .skeleton').first();
      await loading.waitFor();
      mode = 'fail';
      pending.splice(0).forEach((resume) => resume());
      await page.getByRole('alert').getByText(UNAVAILABLE.headers['x-request-id']).first().waitFor();
      await page.getByRole('button', { name: 'Copy request ID' }).first().waitFor();
      mode = 'serve';
      await eventually(`the page ${name} recovers`, async () => {
        const retry = page.getByRole('button', { name: 'Try again' }).first();
        if ((await retry.count()) > 0) await retry.click({ timeout: 1_000 }).catch(() => undefined);
        const [alerts, skeletons] = [await page.getByRole('alert').count(), await loading.count()];
        return alerts + skeletons === 0 ? true : undefined;
      });
      if (pageErrors.length > 0) found[name] = pageErrors.splice(0);
      await page.unrouteAll({ behavior: 'ignoreErrors' });
    }
    expect(found).toEqual({});
    await page.close();
  });

  browsers.it(
    'reports that the gateway is unreachable while offline, and lets a person sign in again after the session ended',
    async () => {
      await startOnce();
      const { organizationId } = await testEnv.tenant();
      const { dashboardUrl, adminEmail, adminPassword } = testEnv.gateway;
      const own = await browser.newContext();
      await takeSession(own, dashboardUrl, adminEmail, adminPassword);
      const page = await own.newPage();
      await page.goto(`${dashboardUrl}/o/${organizationId}/limits`);
      await page.getByText('Requests per minute').first().waitFor();

      await own.setOffline(true);
      await page.getByRole('link', { name: 'Members' }).hover();
      await page.getByRole('button', { name: 'Edit' }).click();
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('Could not reach the gateway.').waitFor();
      await own.setOffline(false);
      await own.request.delete(`${dashboardUrl}/api/session`, {
        headers: { 'content-type': 'application/json' },
      });
      await page.getByRole('button', { name: 'Save' }).click();
      await signInAgain(page, adminPassword);
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('Limits updated.').waitFor();
      expect(page.url()).toBe(`${dashboardUrl}/o/${organizationId}/limits`);
      await own.close();
    },
  );

  browsers.it('works with only the keyboard, from sign-in to a new key', async () => {
    await startOnce();
    const { dashboardUrl, adminEmail, adminPassword } = testEnv.gateway;
    const { organizationId } = await testEnv.tenant();
    const own = await browser.newContext();
    const page = await own.newPage();
    const { keyboard } = page;
    const focused = async () => {
      const name = await page.evaluate<string>(
        `(() => { const element = document.activeElement; return element ? (element.labels?.[0]?.innerText ?? element.ariaLabel ?? element.innerText ?? '') : ''; })()`,
      );
      return name.trim();
    };
    /** Presses Tab until the element with this name has the focus. A page that still loads can show it later. */
    const tabTo = (name: string) =>
      eventually(
        `Tab reaches ${name}`,
        async () => {
          await keyboard.press('Tab');
          return (await focused()).startsWith(name) ? true : undefined;
        },
        { pollMs: 0 },
      );
    await page.goto(`${dashboardUrl}/sign-in?next=${encodeURIComponent(`/o/${organizationId}/keys`)}`);
    await field(page, 'Email').waitFor();
    await keyboard.type(adminEmail);
    await keyboard.press('Tab');
    await keyboard.type(adminPassword);
    await keyboard.press('Enter');
    await page.getByRole('link', { name: 'test key' }).waitFor();

    const hasFocus = (name: string) =>
      eventually(`${name} has the focus`, async () => ((await focused()) === name ? true : undefined));
    await tabTo('test key');
    await keyboard.press('Control+k');
    await page.getByRole('combobox').waitFor();
    await keyboard.press('Escape');
    await hasFocus('test key');
    await keyboard.press('Control+k');
    await page.getByRole('combobox').waitFor();
    await keyboard.type('create key');
    await keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Create key' }).waitFor();
    await tabTo('Name');
    await keyboard.type('by keyboard');
    await keyboard.press('Enter');
    await page.getByText('Key created').waitFor();
    await tabTo('Copy key');
    await tabTo('Done');
    await keyboard.press('Enter');
    await page.getByRole('link', { name: 'by keyboard' }).waitFor();

    // The focus moves into a dialog, stays inside it, and returns to its button.
    await page.getByRole('link', { name: 'by keyboard' }).focus();
    await keyboard.press('Enter');
    await tabTo('Revoke');
    await keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    for (let steps = 0; steps < 6; steps += 1) {
      await keyboard.press('Tab');
      expect(await page.evaluate<boolean>(`document.activeElement.closest('[role=dialog]') !== null`)).toBe(
        true,
      );
    }
    // On a button with a tooltip, the first Escape closes the tooltip and the next one the dialog.
    await eventually(
      'Escape closes the dialog',
      async () => {
        if ((await page.getByRole('dialog').count()) === 0) return true;
        await keyboard.press('Escape');
        return undefined;
      },
      { pollMs: ESCAPE_INTERVAL_MS },
    );
    await hasFocus('Revoke');
    await own.close();
  });

  browsers.it('allows only pages of configured origins to call the public API from a browser', async () => {
    await startOnce();
    const { apiKey } = await testEnv.tenant();
    const page = await browser.newPage();
    const callFrom = async (origin: string) => {
      await page.goto(origin);
      return page.evaluate<string>(
        `fetch(${JSON.stringify(`${testEnv.gateway.baseUrl}/chat/completions`)}, {
          method: 'POST',
          headers: { authorization: 'Bearer ${apiKey}', 'content-type': 'application/json' },
          body: JSON.stringify({ model: 'demo/small', max_tokens: 10, messages: [{ role: 'user', content: 'Hello!' }] }),
        }).then(async (response) => response.status + ' ' + (await response.json()).object + ' ' + (response.headers.get('x-request-id') !== null), () => 'blocked')`,
      );
    };
    expect(await callFrom(otherSite())).toBe('200 chat.completion true');
    expect(await callFrom(otherSite().replace('localhost', '127.0.0.1'))).toBe('blocked');
    await page.close();
  });
});
