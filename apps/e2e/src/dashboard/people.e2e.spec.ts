import { Secret, TOTP } from 'otpauth';
import { browserTests, type Browser, type BrowserContext, type Page } from '../testing/chromium';
import { signInByPage } from '../testing/dashboard-page';
import { field } from '../testing/field';
import { inviteTo, PASSWORD, personWith } from '../testing/people';
import { joinTestEnv, type SharedTestEnv } from '../testing/test-env';

jest.setTimeout(180_000);

const browsers = browserTests();

/** The period of a TOTP code. */
const STEP_MS = 30_000;

describe('people in the dashboard, in a real browser', () => {
  let testEnv: SharedTestEnv;
  let browser: Browser;
  const contexts: BrowserContext[] = [];

  const startOnce = async () => {
    if (testEnv) return;
    testEnv = await joinTestEnv();
    browser = await browsers.launch();
  };
  /** A page with its own cookies. */
  const newPage = async () => {
    const context = await browser.newContext();
    contexts.push(context);
    return context.newPage();
  };

  afterEach(async () => {
    await Promise.all(contexts.splice(0).map((context) => context.close()));
  });
  afterAll(async () => {
    await browser?.close();
    await testEnv?.stop();
  });

  const signIn = async (page: Page, email: string) => {
    await field(page, 'Email').fill(email);
    await field(page, 'Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  };
  const signOut = async (page: Page, email: string) => {
    await page.getByRole('button', { name: email }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  };
  const isSignedIn = (page: Page) => page.getByRole('navigation', { name: 'Main' }).waitFor();

  browsers.it('invites a new person by a link, who sets a password and gets the role', async () => {
    await startOnce();
    const { dashboardUrl, adminEmail, adminPassword } = testEnv.gateway;
    const { organizationId } = await testEnv.tenant();
    const operator = await newPage();
    await signInByPage(operator, dashboardUrl, adminEmail, adminPassword);
    await operator.goto(`${dashboardUrl}/o/${organizationId}/members`);
    await operator.getByRole('button', { name: 'Invite member' }).click();
    await field(operator.getByRole('dialog'), 'Email').fill('new@example.com');
    await field(operator.getByRole('dialog'), 'Role').selectOption('admin');
    await operator.getByRole('button', { name: 'Create invitation' }).click();
    const link = await field(operator, 'Link').inputValue();
    await operator.getByRole('button', { name: 'Done' }).click();
    const invitation = operator.getByRole('row', { name: /new@example\.com/ });
    await invitation.getByText('Pending').waitFor();

    const invited = await newPage();
    await invited.goto(link);
    await invited.getByText('new@example.com is invited as admin').waitFor();
    // The token is removed from the URL and the history.
    expect(invited.url()).toBe(`${dashboardUrl}/invitation`);
    await field(invited, 'Choose a password').fill('short');
    await invited.getByRole('button', { name: 'Accept invitation' }).click();
    await invited.getByText('password must have 10 to 200 characters').waitFor();
    await field(invited, 'Choose a password').fill(PASSWORD);
    await invited.getByRole('button', { name: 'Accept invitation' }).click();
    await invited.waitForURL(`${dashboardUrl}/o/${organizationId}`);
    await invited.getByRole('link', { name: 'Create key' }).waitFor();

    await operator.reload();
    await operator
      .getByRole('table', { name: 'Members' })
      .getByRole('row', { name: /new@example\.com/ })
      .getByRole('combobox', { name: 'Role of new@example.com' })
      .waitFor();
    const again = await newPage();
    await again.goto(link);
    await again.getByText('The link no longer works').waitFor();

    // A change of role applies from the next request on, also in an open page.
    const role = operator.getByRole('combobox', { name: 'Role of new@example.com' });
    await role.focus();
    await operator.keyboard.press('ArrowDown');
    const dialog = operator.getByRole('dialog', { name: 'Change role?' });
    // Nothing changes before the confirmation, nor after a cancellation.
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    expect(await role.inputValue()).toBe('admin');
    await invited.reload();
    await invited.getByRole('link', { name: 'Create key' }).waitFor();
    await role.selectOption('member');
    await dialog.getByRole('button', { name: 'Change role' }).click();
    await operator.getByText('Role changed.').waitFor();
    await invited.reload();
    await isSignedIn(invited);
    expect(await invited.getByRole('link', { name: 'Create key' }).count()).toBe(0);
  });

  browsers.it('sends a person who has an account to sign in, and back to the invitation', async () => {
    await startOnce();
    const { dashboardUrl } = testEnv.gateway;
    const first = await testEnv.tenant();
    const second = await testEnv.tenant();
    const email = 'known@example.com';
    await personWith(testEnv.admin, dashboardUrl, {
      organizationId: first.organizationId,
      email,
      role: 'member',
    });
    const link = await inviteTo(testEnv.admin, second.organizationId, email, 'owner');
    const page = await newPage();
    await page.goto(link);
    await page.getByRole('link', { name: 'Sign in' }).click();
    await signIn(page, email);
    await page.getByText(`${email} is invited as owner`).waitFor();
    await page.getByRole('button', { name: 'Accept invitation' }).click();
    await isSignedIn(page);
    await page.getByRole('button', { name: /Switch organization/ }).click();
    expect(await page.getByRole('menuitem').count()).toBe(2);
  });

  browsers.it(
    'requires an authenticator code once that is enabled, and accepts each recovery code once',
    async () => {
      await startOnce();
      const { dashboardUrl } = testEnv.gateway;
      const { organizationId } = await testEnv.tenant();
      const email = 'careful@example.com';
      await personWith(testEnv.admin, dashboardUrl, { organizationId, email, role: 'admin' });
      const page = await newPage();
      await page.goto(`${dashboardUrl}/sign-in?next=/account`);
      await signIn(page, email);
      await page.getByRole('button', { name: 'Turn on' }).click();
      const dialog = page.getByRole('dialog');
      await field(dialog, 'Password').fill('not the password');
      await dialog.getByRole('button', { name: 'Continue' }).click();
      await dialog.getByRole('alert').waitFor();
      await field(dialog, 'Password').fill(PASSWORD);
      await dialog.getByRole('button', { name: 'Continue' }).click();
      await dialog.getByAltText(/QR code/).waitFor();
      const totp = new TOTP({
        secret: Secret.fromBase32(await field(dialog, 'Secret').inputValue()),
        algorithm: 'SHA1',
        digits: 6,
        period: STEP_MS / 1_000,
      });
      await field(dialog, 'Code').fill(totp.generate());
      await dialog.getByRole('button', { name: 'Turn on' }).click();
      await dialog.getByRole('heading', { name: 'Recovery codes' }).waitFor();
      const codes = (await dialog.getByRole('listitem').allInnerTexts()).map((code) => code.trim());
      expect(new Set(codes).size).toBe(10);
      // Recovery codes are shown only once, so the Escape key does not close the dialog.
      await page.keyboard.press('Escape');
      await dialog.getByRole('button', { name: 'Done' }).click();
      await page.getByText('On', { exact: true }).waitFor();

      const signInWith = async (code: string) => {
        await signIn(page, email);
        await page.getByRole('heading', { name: 'Two-factor authentication' }).waitFor();
        await field(page, 'Code').fill(code);
        await page.getByRole('button', { name: 'Sign in', exact: true }).click();
      };
      await signOut(page, email);
      await signInWith('000000');
      await page.getByRole('alert').waitFor();
      // The code of the next period, because each code is accepted once and the current one was used.
      await field(page, 'Code').fill(totp.generate({ timestamp: Date.now() + STEP_MS }));
      await page.getByRole('button', { name: 'Sign in', exact: true }).click();
      await isSignedIn(page);

      const [recovery = '', other = ''] = codes;
      await signOut(page, email);
      await signInWith(recovery);
      await isSignedIn(page);
      await signOut(page, email);
      await signInWith(recovery);
      await page.getByRole('alert').waitFor();
      await field(page, 'Code').fill(other);
      await page.getByRole('button', { name: 'Sign in', exact: true }).click();
      await isSignedIn(page);
      // A direct request with only the password fails, too.
      const direct = await (
        await browser.newContext()
      ).request.post(`${dashboardUrl}/api/session`, {
        data: { email, password: PASSWORD },
      });
      expect([direct.status(), ((await direct.json()) as { error: { code: string } }).error.code]).toEqual([
        401,
        'second_factor_required',
      ]);
    },
  );

  browsers.it('ends a session from another browser, which then must sign in again', async () => {
    await startOnce();
    const { dashboardUrl } = testEnv.gateway;
    const { organizationId } = await testEnv.tenant();
    const email = 'twice@example.com';
    await personWith(testEnv.admin, dashboardUrl, { organizationId, email, role: 'member' });
    const [here, there] = [await newPage(), await newPage()];
    for (const page of [here, there]) {
      await page.goto(`${dashboardUrl}/sign-in?next=${encodeURIComponent(`/o/${organizationId}/credit`)}`);
      await signIn(page, email);
      await page.getByRole('heading', { name: 'Credit', level: 1 }).waitFor();
    }
    await here.goto(`${dashboardUrl}/account`);
    await here.getByRole('button', { name: 'Sign out all others' }).click();
    // The second one is the session from accepting the invitation.
    await here.getByText(/2 sessions signed out/).waitFor();
    // Its page polls the balance, so it notices automatically.
    await there.getByRole('dialog', { name: 'Sign in again' }).waitFor();
  });
});
