import type { Tenant } from '@gateway/test-support';
import { browserTests, collectPageErrors, type Browser, type Page } from '../testing/chromium';
import { signInByPage, takeSession } from '../testing/dashboard-page';
import { eventually } from '../testing/eventually';
import { field } from '../testing/field';
import { PASSWORD, personWith } from '../testing/people';
import { joinTestEnv, type SharedTestEnv } from '../testing/test-env';

jest.setTimeout(180_000);

const browsers = browserTests();

/** Frequent tasks, from the overview of an organization, with their number of clicks. */
describe('tasks in the dashboard, in a real browser', () => {
  let testEnv: SharedTestEnv;
  let browser: Browser;
  let page: Page;
  let errors: readonly string[];

  const startOnce = async () => {
    if (testEnv) return;
    testEnv = await joinTestEnv();
    browser = await browsers.launch();
    page = await browser.newPage();
    errors = collectPageErrors(page);
    const { dashboardUrl, adminEmail, adminPassword } = testEnv.gateway;
    await signInByPage(page, dashboardUrl, adminEmail, adminPassword);
  };

  afterAll(async () => {
    await browser?.close();
    await testEnv?.stop();
  });

  /** Opens the overview, from where clicks of a pointer count. */
  async function start(tenant: Tenant) {
    await page.goto(`${testEnv.gateway.dashboardUrl}/o/${tenant.organizationId}`);
    await page.getByRole('link', { name: 'Keys', exact: true }).waitFor();
    await countClicks();
  }
  const countClicks = () =>
    page.evaluate(
      'clicks = 0; addEventListener("click", ({ detail }) => { if (detail > 0) clicks += 1; }, true)',
    );
  const clicks = () => page.evaluate('clicks');
  const go = (name: string) => page.getByRole('link', { name, exact: true }).first().click();
  const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
  const paste = async (text: string) => {
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Search or jump to' }).fill(text);
  };
  const chat = (tenant: Tenant, content: string) =>
    testEnv
      .client(tenant.apiKey)
      .chat.completions.create(
        { model: 'demo/small', max_tokens: 4, messages: [{ role: 'user', content }] },
        { maxRetries: 0 },
      );
  /** The id of a request that fails or is refused. */
  const failing = (tenant: Tenant, content = 'Hello!') =>
    chat(tenant, content).then(
      () => Promise.reject(new Error('the request succeeded')),
      ({ requestID }: { requestID?: string }) => requestID ?? '',
    );
  /** Waits until the edge has reported a refused request, which it does every few seconds. */
  const reported = ({ organizationId }: Tenant) =>
    eventually('the refused request', async () => {
      const path = `/api/organizations/${organizationId}/refused-requests`;
      const { data } = await testEnv.admin.call<{ data: unknown[] }>('GET', path);
      return data.length > 0 ? true : undefined;
    });

  browsers.it('creates a key with a budget in three clicks', async () => {
    await startOnce();
    await start(await testEnv.tenant());
    await go('Keys');
    await page.getByRole('link', { name: 'Create key' }).first().click();
    await field(page, 'Name').fill('with a budget');
    await field(page, 'Daily budget (USD)').fill('$5');
    await press('Create key');
    expect(await field(page, 'Your key').inputValue()).toMatch(/^sk-gw-/);
    expect(await clicks()).toBe(3);
  });

  browsers.it('adds credit in three clicks and two fields', async () => {
    await startOnce();
    await start(await testEnv.tenant({ credit: '0' }));
    await go('Credit');
    await press('Add credit');
    const dialog = page.getByRole('dialog');
    await field(dialog, 'Amount').fill('2.50');
    await field(dialog, 'Note').fill('invoice 4712');
    await dialog.getByRole('button', { name: 'Add $2.50' }).click();
    await page.getByText('$2.50 added.').waitFor();
    expect(await clicks()).toBe(3);
  });

  browsers.it('raises the budget that refused a request in three clicks and one field', async () => {
    await startOnce();
    const tenant = await testEnv.tenant({ limits: { daily_budget_usd: '0.000000001' } });
    const refused = testEnv.client(tenant.apiKey).chat.completions.create({
      model: 'demo/small',
      max_tokens: 4,
      messages: [{ role: 'user', content: 'Hello!' }],
    });
    await expect(refused).rejects.toMatchObject({ code: 'daily_budget_exceeded' });
    await reported(tenant);
    await page.goto(`${testEnv.gateway.dashboardUrl}/o/${tenant.organizationId}/generations?status=refused`);
    const link = page.getByRole('link', { name: 'Change the organization’s budget' });
    await link.waitFor();
    await countClicks();
    await link.click();
    await press('Edit');
    await field(page, 'Daily budget (USD)').fill('1');
    await press('Save');
    await page.getByText('$1.00').first().waitFor();
    expect(await clicks()).toBe(3);
  });

  browsers.it('finds a refused request by its id without a click, with the reason', async () => {
    await startOnce();
    const tenant = await testEnv.tenant({ credit: '0' });
    const requestId = await failing(tenant);
    await reported(tenant);
    await start(tenant);
    await paste(requestId);
    await page.getByRole('option', { name: requestId }).first().waitFor();
    await page.keyboard.press('Enter');
    await page
      .getByText(/available/)
      .first()
      .waitFor();
    await page.getByText('insufficient_credits').first().waitFor();
    expect(await clicks()).toBe(0);
  });

  browsers.it(
    'finds a failed request by its id without a click, with the error of the provider',
    async () => {
      await startOnce();
      const tenant = await testEnv.tenant();
      const requestId = await failing(tenant, 'Hello! [[fault:500]]');
      await eventually('the failed generation', async () => {
        const path = `/api/organizations/${tenant.organizationId}/generations`;
        const { data } = await testEnv.admin.call<{ data: unknown[] }>('GET', path);
        return data.length > 0 ? true : undefined;
      });
      await start(tenant);
      await paste(requestId);
      await page.getByRole('option', { name: /^gen-/ }).waitFor();
      await page.keyboard.press('Enter');
      await page.getByText('HTTP 500').first().waitFor();
      expect(await clicks()).toBe(0);
    },
  );

  browsers.it('revokes a leaked key, given the key, in two clicks and no address with it', async () => {
    await startOnce();
    const tenant = await testEnv.tenant();
    const leaked = await tenant.createKey({ name: 'leaked' });
    const addresses: string[] = [];
    page.on('request', (request) => addresses.push(request.url()));
    await start(tenant);
    await paste(leaked.apiKey);
    await page
      .getByRole('option', { name: /^leaked/ })
      .first()
      .waitFor();
    await page.keyboard.press('Enter');
    await press('Revoke');
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox').fill('leaked');
    await dialog.getByRole('button', { name: 'Revoke key' }).click();
    await page.getByText('Key revoked.').waitFor();
    expect(await clicks()).toBe(2);
    expect(addresses.filter((address) => address.includes(leaked.apiKey))).toEqual([]);
    await expect(testEnv.client(leaked.apiKey).models.list()).rejects.toMatchObject({ code: 'key_revoked' });
  });

  browsers.it('sets alerts with a webhook and an email in three clicks and three fields', async () => {
    await startOnce();
    await start(await testEnv.tenant());
    await go('Credit');
    await press('Edit');
    const dialog = page.getByRole('dialog', { name: 'Alerts' });
    await field(dialog, 'Low-balance threshold (USD)').fill('20');
    await field(dialog, 'Webhook URL').fill('https://example.com/credit');
    await field(dialog, 'Low-balance emails').fill('billing@tasks.example');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await field(page, 'Secret').waitFor();
    expect(await clicks()).toBe(3);
    await press('Done');
    await page.getByText('billing@tasks.example').waitFor();
  });

  browsers.it('downloads the statement and the usage as billing in four clicks', async () => {
    await startOnce();
    const tenant = await testEnv.tenant();
    await chat(tenant, 'Hello!');
    const operator = page;
    const context = await browser.newContext();
    const { dashboardUrl } = testEnv.gateway;
    const email = 'billing@csv.example';
    const { organizationId } = tenant;
    await personWith(testEnv.admin, dashboardUrl, { organizationId, email, role: 'billing' });
    await takeSession(context, dashboardUrl, email, PASSWORD);
    page = await context.newPage();
    const download = async () => {
      const file = page.waitForEvent('download');
      await page.getByRole('link', { name: 'CSV' }).first().click();
      return (await file).suggestedFilename();
    };
    await start(tenant);
    await go('Credit');
    expect(await download()).toMatch(/^statement.*\.csv$/);
    await go('Usage');
    expect(await download()).toMatch(/^usage.*\.csv$/);
    expect(await clicks()).toBe(4);
    await context.close();
    page = operator;
  });

  browsers.it('invites a member in three clicks and two fields', async () => {
    await startOnce();
    await start(await testEnv.tenant());
    await go('Members');
    await press('Invite member');
    const dialog = page.getByRole('dialog');
    await field(dialog, 'Email').fill('invited@tasks.example');
    await field(dialog, 'Role').selectOption('developer');
    await press('Create invitation');
    expect(await field(page, 'Link').inputValue()).toContain('/invitation');
    expect(await clicks()).toBe(3);
    await press('Done');
  });

  browsers.it('creates a management token in three clicks and two fields', async () => {
    await startOnce();
    await start(await testEnv.tenant());
    await go('Management tokens');
    await press('Create token');
    const dialog = page.getByRole('dialog', { name: 'Create token' });
    await field(dialog, 'Name').fill('automation');
    await field(dialog, 'Access').selectOption('read_write');
    await dialog.getByRole('button', { name: 'Create token' }).click();
    expect(await field(page, 'Token').inputValue()).not.toBe('');
    expect(await clicks()).toBe(3);
    await press('Done');
  });

  browsers.it('shows who changed a limit in one click', async () => {
    await startOnce();
    const tenant = await testEnv.tenant();
    await tenant.setLimits({ requests_per_minute: 77 });
    await start(tenant);
    await go('Audit log');
    await page
      .getByRole('row', { name: /limits/i })
      .first()
      .waitFor();
    expect(await clicks()).toBe(1);
    expect(errors).toEqual([]);
  });
});
