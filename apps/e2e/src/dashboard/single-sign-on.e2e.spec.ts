import { startIdentityProvider, type IdentityProviderUnderTest } from '@gateway/test-support';
import {
  browserTests,
  complaintsOf,
  type Browser,
  type BrowserContext,
  type Page,
} from '../testing/chromium';
import { takeSession } from '../testing/dashboard-page';
import { inviteTo, PASSWORD, personWith } from '../testing/people';
import { startTestEnv, type TestEnv } from '../testing/test-env';

jest.setTimeout(180_000);

const browsers = browserTests();
const LABEL = 'Acme login';

describe('the dashboard with a single sign-on', () => {
  let provider: IdentityProviderUnderTest;
  let testEnv: TestEnv;
  let browser: Browser;

  const begin = async () => {
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

  /** From the sign-in page to the provider, there as this person, and back. */
  async function signOn(page: Page, login: string): Promise<void> {
    await page.getByRole('link', { name: LABEL }).click();
    await page.getByPlaceholder('Enter any login').fill(login);
    await page.getByPlaceholder('and password').fill('any');
    await page.getByRole('button', { name: 'Sign-in' }).click();
    await page.getByRole('button', { name: 'Continue' }).click();
  }

  /** The provider has the same host, and cookies know no ports. */
  async function ownCookies(context: BrowserContext) {
    const cookies = await context.cookies(`${testEnv.gateway.dashboardUrl}/api/oidc`);
    return cookies.filter(({ name }) => name.startsWith('gateway_'));
  }

  browsers.it(
    'lets the people of a mapped domain in, to where they wanted to go, and no others',
    async () => {
      await begin();
      const { dashboardUrl, adminEmail, adminPassword } = testEnv.gateway;
      const { organizationId } = await testEnv.tenant();

      const operator = await browser.newContext();
      await takeSession(operator, dashboardUrl, adminEmail, adminPassword);
      const members = await operator.newPage();
      const complaints = complaintsOf(members);
      await members.goto(`${dashboardUrl}/o/${organizationId}/members`);
      await members.getByRole('button', { name: 'Map domain' }).click();
      await members.getByRole('textbox', { name: 'Domain' }).fill('Acme.example');
      await members.getByRole('button', { name: 'Map', exact: true }).click();
      await members.getByRole('cell', { name: 'acme.example', exact: true }).waitFor();
      expect(complaints).toEqual([]);

      const ada = await browser.newContext();
      const page = await ada.newPage();
      await page.goto(`${dashboardUrl}/o/${organizationId}/keys`);
      await signOn(page, 'ada@acme.example');
      await page.getByRole('heading', { name: 'Keys', level: 1 }).waitFor();
      expect(page.url()).toBe(`${dashboardUrl}/o/${organizationId}/keys`);
      expect(await ownCookies(ada)).toMatchObject([
        { name: 'gateway_session', sameSite: 'Strict', httpOnly: true },
      ]);
      // Still there after a reload: the cookie goes with the page's own requests.
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
      const stranger = await eve.newPage();
      await stranger.goto(`${dashboardUrl}/sign-in`);
      await signOn(stranger, 'eve@elsewhere.example');
      const alert = stranger.getByRole('alert');
      await alert.getByText(/No organization accepts your email’s domain/).waitFor();
      expect(await alert.innerText()).toMatch(/req-\w+/);
      expect(await ownCookies(eve)).toEqual([]);
    },
  );

  browsers.it('is unlinked on the account’s page by whoever has a password, too', async () => {
    await begin();
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
    await dialog.getByLabel('Password').fill('not the password');
    await dialog.getByRole('button', { name: 'Unlink' }).click();
    await dialog.getByRole('alert').waitFor();
    await dialog.getByLabel('Password').fill(PASSWORD);
    await dialog.getByRole('button', { name: 'Unlink' }).click();
    await page.getByText('Identity provider unlinked.').waitFor();
    await page.getByRole('table', { name: 'Single sign-on' }).waitFor({ state: 'detached' });
    await context.close();
  });

  browsers.it('takes an invited person back to the invitation, whose link no script keeps', async () => {
    await begin();
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
    const kept = await page.evaluate('JSON.stringify([localStorage, sessionStorage, document.cookie])');
    expect(kept).not.toContain(new URL(link).hash.slice(1));
    await page.getByRole('button', { name: 'Accept invitation' }).click();
    await page.getByRole('navigation', { name: 'Main' }).waitFor();
    await page.goto(`${dashboardUrl}/o/${other.organizationId}/members`);
    await page.getByRole('cell', { name: `${email} (you)` }).waitFor();
    // It was good once.
    await page.goto(`${dashboardUrl}/invitation`);
    await page.getByText('The link no longer works').waitFor();
    await context.close();
  });

  browsers.it('says so on the sign-in page while the provider is away', async () => {
    await begin();
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(`${testEnv.gateway.dashboardUrl}/sign-in`);
    provider.meddle((path, answer) =>
      path === '/token' ? { ...answer, status: 503, body: 'down' } : answer,
    );
    await signOn(page, 'ada@acme.example');
    await page
      .getByRole('alert')
      .getByText(/temporarily unavailable/)
      .waitFor();
    provider.meddle(undefined);
    // The provider knows them by now, and asks only whether to go on.
    await page.getByRole('link', { name: LABEL }).click();
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('navigation', { name: 'Main' }).waitFor();
  });
});
