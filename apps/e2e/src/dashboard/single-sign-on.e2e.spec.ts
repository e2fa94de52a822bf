import { startIdentityProvider, type IdentityProviderUnderTest } from '@gateway/test-support';
import {
  browserTests,
  collectPageErrors,
  type Browser,
  type BrowserContext,
  type Page,
} from '../testing/chromium';
import { takeSession } from '../testing/dashboard-page';
import { field } from '../testing/field';
import { inviteTo, PASSWORD, personWith } from '../testing/people';
import { startTestEnv, type TestEnv } from '../testing/test-env';

jest.setTimeout(180_000);

const browsers = browserTests();
const LABEL = 'Acme login';

describe('the dashboard with single sign-on', () => {
  let provider: IdentityProviderUnderTest;
  let testEnv: TestEnv;
  let browser: Browser;

  const startOnce = async () => {
    if (testEnv) return;
    provider = await startIdentityProvider();
    testEnv = await startTestEnv({ env: { ...provider.environment, GATEWAY_OIDC_LABEL: LABEL } });
    browser = await browsers.launch();
  };
  afterAll(async () => {
    await browser?.close();
    await testEnv?.stop();
    await provider?.close();
  });

  /** Goes from the sign-in page to the identity provider, signs in there, and returns. */
  async function signOn(page: Page, login: string): Promise<void> {
    await page.getByRole('link', { name: LABEL }).click();
    await page.getByPlaceholder('Enter any login').fill(login);
    await page.getByPlaceholder('and password').fill('any');
    await page.getByRole('button', { name: 'Sign-in' }).click();
    await page.getByRole('button', { name: 'Continue' }).click();
  }

  /** The gateway's cookies. Cookies ignore ports, so those of the identity provider on the same host are filtered out. */
  async function gatewayCookies(context: BrowserContext) {
    const cookies = await context.cookies(`${testEnv.gateway.dashboardUrl}/api/oidc`);
    return cookies.filter(({ name }) => name.startsWith('gateway_'));
  }

  browsers.it(
    'lets only people of a mapped domain sign in, and opens the page that they requested',
    async () => {
      await startOnce();
      const { dashboardUrl, adminEmail, adminPassword } = testEnv.gateway;
      const { organizationId } = await testEnv.tenant();

      const operator = await browser.newContext();
      await takeSession(operator, dashboardUrl, adminEmail, adminPassword);
      const members = await operator.newPage();
      const pageErrors = collectPageErrors(members);
      await members.goto(`${dashboardUrl}/o/${organizationId}/members`);
      await members.getByRole('button', { name: 'Map domain' }).click();
      await members.getByRole('textbox', { name: 'Domain' }).fill('Acme.example');
      await members.getByRole('button', { name: 'Map', exact: true }).click();
      await members.getByRole('cell', { name: 'acme.example', exact: true }).waitFor();
      expect(pageErrors).toEqual([]);

      const ada = await browser.newContext();
      const page = await ada.newPage();
      await page.goto(`${dashboardUrl}/o/${organizationId}/keys`);
      await signOn(page, 'ada@acme.example');
      await page.getByRole('heading', { name: 'Keys', level: 1 }).waitFor();
      expect(page.url()).toBe(`${dashboardUrl}/o/${organizationId}/keys`);
      expect(await gatewayCookies(ada)).toMatchObject([
        { name: 'gateway_session', sameSite: 'Strict', httpOnly: true },
      ]);
      // Still signed in after a reload: the browser sends the cookie with the page's own requests.
      await page.goto(`${dashboardUrl}/account`);
      await page
        .getByRole('table', { name: 'Sessions' })
        .getByText(/Single sign-on$/)
        .waitFor();
      await page.getByText('Your account has no password.').waitFor();
      expect(await page.getByRole('button', { name: /^Unlink/ }).count()).toBe(0);

      await members.reload();
      await members.getByText('ada@acme.example').waitFor();

      const eve = await browser.newContext();
      const visitor = await eve.newPage();
      await visitor.goto(`${dashboardUrl}/sign-in`);
      await signOn(visitor, 'eve@elsewhere.example');
      const alert = visitor.getByRole('alert');
      await alert.getByText(/No organization accepts your email’s domain/).waitFor();
      expect(await alert.innerText()).toMatch(/req_\w+/);
      expect(await gatewayCookies(eve)).toEqual([]);
    },
  );

  browsers.it('can be unlinked on the account page by a person who has a password', async () => {
    await startOnce();
    const { dashboardUrl } = testEnv.gateway;
    const { organizationId } = await testEnv.tenant();
    const email = 'grace@acme.example';
    await personWith(testEnv.admin, dashboardUrl, { organizationId, email, role: 'member' });
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(`${dashboardUrl}/sign-in?next=/account`);
    await signOn(page, email);
    await page.getByRole('button', { name: /^Unlink/ }).click();
    const dialog = page.getByRole('dialog');
    await field(dialog, 'Password').fill('not the password');
    await dialog.getByRole('button', { name: 'Unlink' }).click();
    await dialog.getByRole('alert').waitFor();
    await field(dialog, 'Password').fill(PASSWORD);
    await dialog.getByRole('button', { name: 'Unlink' }).click();
    await page.getByText('Identity provider unlinked.').waitFor();
    await page.getByRole('table', { name: 'Single sign-on' }).waitFor({ state: 'detached' });
    await context.close();
  });

  browsers.it('returns an invited person to the invitation, whose token no script can read', async () => {
    await startOnce();
    const { dashboardUrl } = testEnv.gateway;
    const [home, other] = [await testEnv.tenant(), await testEnv.tenant()];
    const email = 'hedy@acme.example';
    await personWith(testEnv.admin, dashboardUrl, {
      organizationId: home.organizationId,
      email,
      role: 'member',
    });
    const link = await inviteTo(testEnv.admin, other.organizationId, email, 'admin');
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(link);
    await page.getByRole('link', { name: 'Sign in' }).click();
    await signOn(page, email);
    await page.getByRole('button', { name: 'Accept invitation' }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/invitation');
    const stored = await page.evaluate('JSON.stringify([localStorage, sessionStorage, document.cookie])');
    expect(stored).not.toContain(new URL(link).hash.slice(1));
    await page.getByRole('button', { name: 'Accept invitation' }).click();
    await page.getByRole('navigation', { name: 'Main' }).waitFor();
    await page.goto(`${dashboardUrl}/o/${other.organizationId}/members`);
    await page.getByRole('cell', { name: `${email} (you)` }).waitFor();
    // An invitation can be accepted once.
    await page.goto(`${dashboardUrl}/invitation`);
    await page.getByText('The link no longer works').waitFor();
    await context.close();
  });

  browsers.it('shows on the sign-in page that the provider is unavailable', async () => {
    await startOnce();
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(`${testEnv.gateway.dashboardUrl}/sign-in`);
    provider.alterResponses((path, response) =>
      path === '/token' ? { ...response, status: 503, body: 'down' } : response,
    );
    await signOn(page, 'ada@acme.example');
    await page
      .getByRole('alert')
      .getByText(/temporarily unavailable/)
      .waitFor();
    provider.alterResponses(undefined);
    // The provider has a session by now, and shows only its consent page.
    await page.getByRole('link', { name: LABEL }).click();
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('navigation', { name: 'Main' }).waitFor();
  });
});
