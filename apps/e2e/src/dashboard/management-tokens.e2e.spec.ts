import { browserTests, type Browser, type Page } from '../testing/chromium';
import { takeSession } from '../testing/dashboard-page';
import { field } from '../testing/field';
import { PASSWORD, personWith } from '../testing/people';
import { joinTestEnv, type SharedTestEnv } from '../testing/test-env';

jest.setTimeout(180_000);

const browsers = browserTests();

describe('management tokens in the dashboard, in a real browser', () => {
  let testEnv: SharedTestEnv;
  let browser: Browser;

  afterAll(async () => {
    await browser?.close();
    await testEnv?.stop();
  });

  async function pageFor(email: string, password: string): Promise<Page> {
    const context = await browser.newContext();
    await takeSession(context, testEnv.gateway.dashboardUrl, email, password);
    return context.newPage();
  }

  async function createOn(page: Page, name: string, role?: string): Promise<string> {
    await page.getByRole('button', { name: 'Create token' }).click();
    const dialog = page.getByRole('dialog', { name: 'Create token' });
    await field(dialog, 'Name').fill(name);
    await field(dialog, 'Access').selectOption('read_write');
    if (role !== undefined) await field(dialog, 'Role').selectOption(role);
    await dialog.getByRole('button', { name: 'Create token' }).click();
    const secret = await field(page, 'Token').inputValue();
    await page.getByRole('button', { name: 'Done' }).click();
    return secret;
  }

  const send = (secret: string, method: string, path: string, body?: object) =>
    fetch(testEnv.gateway.dashboardUrl + path, {
      method,
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });

  browsers.it('an admin creates one, a script uses it, and it ends when it is revoked', async () => {
    testEnv = await joinTestEnv();
    browser = await browsers.launch();
    const { dashboardUrl } = testEnv.gateway;
    const { organizationId } = await testEnv.tenant();
    const email = 'admin@management-tokens.example';
    await personWith(testEnv.admin, dashboardUrl, { organizationId, email, role: 'admin' });
    const page = await pageFor(email, PASSWORD);
    const organization = `/api/organizations/${organizationId}`;
    await page.goto(`${dashboardUrl}/o/${organizationId}/management-tokens`);
    const secret = await createOn(page, 'provisioning', 'admin');
    const row = page.getByRole('row', { name: /provisioning/ });
    await row.getByText('Active').last().waitFor();
    await row.getByText('Never').waitFor();

    const reader = { email: 'reader@example.com', role: 'member' };
    expect((await send(secret, 'POST', `${organization}/invitations`, reader)).status).toBe(201);
    expect(
      (await send(secret, 'POST', `${organization}/keys`, { name: 'stolen', scopes: ['chat'] })).status,
    ).toBe(403);
    await page.reload();
    await row.getByText('Active').last().waitFor();
    expect(await row.getByText('Never').count()).toBe(0);
    await page.goto(`${dashboardUrl}/o/${organizationId}/audit`);
    await page.getByText(`provisioning (token of ${email})`).first().waitFor();

    await page.goto(`${dashboardUrl}/o/${organizationId}/management-tokens`);
    await page.getByRole('button', { name: 'Revoke provisioning' }).click();
    await page.getByRole('button', { name: 'Revoke token' }).click();
    await page.getByText('Management token revoked.').waitFor();
    expect((await send(secret, 'GET', organization)).status).toBe(401);
  });

  browsers.it('an operator creates one for the platform', async () => {
    const { dashboardUrl, adminEmail, adminPassword } = testEnv.gateway;
    const page = await pageFor(adminEmail, adminPassword);
    await page.goto(`${dashboardUrl}/operator/management-tokens`);
    const secret = await createOn(page, 'operations');
    await page
      .getByRole('row', { name: /operations/ })
      .getByText('operator', { exact: true })
      .waitFor();
    expect((await send(secret, 'POST', '/api/organizations', { name: 'By a script' })).status).toBe(201);
    expect((await send(secret, 'GET', '/api/people')).status).toBe(200);
  });
});
