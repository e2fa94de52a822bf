import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { browserTests, complaintsOf, type Browser, type BrowserContext } from '../testing/chromium';
import { signInAgain, takeSession } from '../testing/dashboard-page';
import { eventually } from '../testing/eventually';
import { screens, type Screen } from '../testing/screens';
import { startTestEnv, type TestEnv } from '../testing/test-env';

jest.setTimeout(180_000);

/** Between two presses, so that the page has acted on the one before. */
const ESCAPE_EVERY_MS = 300;

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

/** Pages that show nothing of their own until the API has answered; the others are looked at elsewhere. */
const asksForData = ({ signedOut, prepare, name }: Screen) =>
  !signedOut && !prepare && !name.startsWith('empty-') && !['not-found', 'account', 'new-key'].includes(name);

describe('the dashboard when things are slow, broken, or without a mouse', () => {
  let testEnv: TestEnv;
  let browser: Browser;
  let context: BrowserContext;
  let elsewhere: Server;

  const begin = async () => {
    if (testEnv) return;
    elsewhere = createServer((_request, response) =>
      response.setHeader('content-type', 'text/html').end('<!doctype html><title>elsewhere</title>'),
    ).listen(0, '127.0.0.1');
    await new Promise((resolve) => elsewhere.once('listening', resolve));
    testEnv = await startTestEnv({ env: { GATEWAY_CORS_ORIGINS: otherSite() } });
    browser = await browsers.launch();
    context = await browser.newContext();
    const { dashboardUrl, adminEmail, adminPassword } = testEnv.gateway;
    await takeSession(context, dashboardUrl, adminEmail, adminPassword);
  };
  const otherSite = () => `http://localhost:${(elsewhere.address() as AddressInfo).port}`;

  afterAll(async () => {
    await browser?.close();
    await new Promise((resolve) => (elsewhere ? elsewhere.close(resolve) : resolve(undefined)));
    await testEnv?.stop();
  });

  browsers.it(
    'shows that it loads while the API is slow, what failed when it fails, and recovers',
    async () => {
      await begin();
      const { organizationId } = await testEnv.tenant();
      const page = await context.newPage();
      let answer: 'wait' | 'fail' | 'serve' = 'wait';
      const waiting: (() => void)[] = [];
      await page.route('**/api/organizations/*/keys?*', async (route) => {
        if (answer === 'wait') await new Promise<void>((resolve) => waiting.push(resolve));
        if (answer === 'serve') await route.continue();
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
      answer = 'fail';
      waiting.forEach((go) => go());
      await page.getByText('Couldn’t load keys').waitFor();
      await page.getByText('req-slow').waitFor();
      answer = 'serve';
      await page.getByRole('button', { name: 'Try again' }).click();
      await page.getByRole('link', { name: 'test key' }).waitFor();
      await page.close();
    },
  );

  browsers.it(
    'has a state for loading and one for failing on every page, and recovers by itself',
    async () => {
      await begin();
      const { organizationId, keyId, apiKey } = await testEnv.tenant();
      const { id: generationId } = await testEnv.client(apiKey).chat.completions.create({
        model: 'demo/small',
        max_tokens: 10,
        messages: [{ role: 'user', content: 'Hello!' }],
      });
      const ids = { organizationId, emptyId: organizationId, keyId, generationId };
      const found: Record<string, unknown> = {};
      // One for all of them: a new one takes the browser as long as everything else.
      const page = await context.newPage();
      const complaints = complaintsOf(page);
      for (const { name, path } of screens(ids).filter(asksForData)) {
        let answer: 'wait' | 'fail' | 'serve' = 'wait';
        const waiting: (() => void)[] = [];
        await page.route('**/api/**', async (route) => {
          // Who is signed in, and where, is asked before there is a page.
          if (/\/api\/(session|organizations)$|\/api\/organizations\?/.test(route.request().url())) {
            if (!path.endsWith('/organizations')) return route.continue();
          }
          if (/\/api\/session$/.test(route.request().url())) return route.continue();
          if (answer === 'wait') await new Promise<void>((resolve) => waiting.push(resolve));
          // The page may be gone by now.
          await (answer === 'serve' ? route.continue() : route.fulfill(UNAVAILABLE)).catch(() => undefined);
        });
        await page.goto(testEnv.gateway.dashboardUrl + path);
        await page.getByRole('heading', { level: 1 }).waitFor();
        const loading = page.locator('main .skeleton').first();
        await loading.waitFor();
        answer = 'fail';
        waiting.splice(0).forEach((go) => go());
        await page.getByRole('alert').getByText(UNAVAILABLE.headers['x-request-id']).first().waitFor();
        await page.getByRole('button', { name: 'Copy request ID' }).first().waitFor();
        answer = 'serve';
        await eventually('the page to recover', async () => {
          const again = page.getByRole('button', { name: 'Try again' }).first();
          if ((await again.count()) > 0) await again.click({ timeout: 1_000 }).catch(() => undefined);
          const [alerts, skeletons] = [await page.getByRole('alert').count(), await loading.count()];
          return alerts + skeletons === 0 ? true : undefined;
        });
        if (complaints.length > 0) found[name] = complaints.splice(0);
        await page.unrouteAll({ behavior: 'ignoreErrors' });
      }
      expect(found).toEqual({});
      await page.close();
    },
  );

  browsers.it(
    'says that the gateway cannot be reached when it is gone, and signs in again after the session ended',
    async () => {
      await begin();
      const { organizationId } = await testEnv.tenant();
      const { dashboardUrl, adminEmail, adminPassword } = testEnv.gateway;
      const own = await browser.newContext();
      await takeSession(own, dashboardUrl, adminEmail, adminPassword);
      const page = await own.newPage();
      await page.goto(`${dashboardUrl}/o/${organizationId}/limits`);
      await page.getByText('Requests per minute').waitFor();

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

  browsers.it('is worked by the keyboard alone, from signing in to the new key', async () => {
    await begin();
    const { dashboardUrl, adminEmail, adminPassword } = testEnv.gateway;
    const { organizationId } = await testEnv.tenant();
    const own = await browser.newContext();
    const page = await own.newPage();
    const { keyboard } = page;
    /** Tab until the thing with this name has the focus; a person would do no other. */
    const tabTo = async (name: string) => {
      const focused = () =>
        page.evaluate<string>(
          `(() => { const one = document.activeElement; return one ? (one.labels?.[0]?.innerText ?? one.ariaLabel ?? one.innerText ?? '') : ''; })()`,
        );
      for (let steps = 0; steps < 80; steps += 1) {
        await keyboard.press('Tab');
        if ((await focused()).trim().startsWith(name)) return;
      }
      throw new Error(`no Tab leads to ${name}`);
    };
    await page.goto(`${dashboardUrl}/sign-in?next=${encodeURIComponent(`/o/${organizationId}/keys`)}`);
    await page.getByLabel('Email').waitFor();
    await keyboard.type(adminEmail);
    await keyboard.press('Tab');
    await keyboard.type(adminPassword);
    await keyboard.press('Enter');
    await page.getByRole('link', { name: 'test key' }).waitFor();

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

    // Into a dialog, round in it, and back to where one came from.
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
    // On a button that explains itself the first Escape ends the explanation, the next one the dialog.
    await eventually(
      'Escape to close the dialog',
      async () => {
        if ((await page.getByRole('dialog').count()) === 0) return true;
        await keyboard.press('Escape');
        return undefined;
      },
      { pollMs: ESCAPE_EVERY_MS },
    );
    // The focus comes back once the dialog has faded.
    await eventually('the focus to come back', async () => {
      const focused = await page.evaluate<string | undefined>('document.activeElement?.innerText');
      return focused === 'Revoke' ? true : undefined;
    });
    await own.close();
  });

  browsers.it(
    'lets pages of a named origin call the public API from the browser, and no others',
    async () => {
      await begin();
      const { apiKey } = await testEnv.tenant();
      const page = await browser.newPage();
      const askFrom = async (origin: string) => {
        await page.goto(origin);
        return page.evaluate<string>(
          `fetch(${JSON.stringify(`${testEnv.gateway.baseUrl}/chat/completions`)}, {
          method: 'POST',
          headers: { authorization: 'Bearer ${apiKey}', 'content-type': 'application/json' },
          body: JSON.stringify({ model: 'demo/small', max_tokens: 10, messages: [{ role: 'user', content: 'Hello!' }] }),
        }).then(async (answer) => answer.status + ' ' + (await answer.json()).object + ' ' + (answer.headers.get('x-request-id') !== null), () => 'refused')`,
        );
      };
      expect(await askFrom(otherSite())).toBe('200 chat.completion true');
      expect(await askFrom(otherSite().replace('localhost', '127.0.0.1'))).toBe('refused');
      await page.close();
    },
  );
});
