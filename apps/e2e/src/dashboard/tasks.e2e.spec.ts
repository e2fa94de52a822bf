import type { Tenant } from '@gateway/test-support';
import { browserTests, collectPageErrors, type Browser, type Page } from '../testing/chromium';
import { signInByPage } from '../testing/dashboard-page';
import { eventually } from '../testing/eventually';
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

  browsers.it('creates a key with a budget in three clicks', async () => {
    await startOnce();
    await start(await testEnv.tenant());
    await go('Keys');
    await page.getByRole('link', { name: 'Create key' }).first().click();
    await page.getByLabel('Name').fill('with a budget');
    await page.getByLabel('Daily budget (USD)').fill('$5');
    await press('Create key');
    expect(await page.getByLabel('Your key').inputValue()).toMatch(/^sk-gw-/);
    expect(await clicks()).toBe(3);
  });

  browsers.it('adds credit in three clicks and two fields', async () => {
    await startOnce();
    await start(await testEnv.tenant({ credit: '0' }));
    await go('Credit');
    await press('Add credit');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Amount').fill('2.50');
    await dialog.getByLabel('Note').fill('invoice 4712');
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
    const path = `/o/${tenant.organizationId}/generations?status=refused`;
    const link = page.getByRole('link', { name: 'Change the organization’s budget' });
    // Edges report refused requests every few seconds.
    await eventually('the refused request', async () => {
      await page.goto(`${testEnv.gateway.dashboardUrl}${path}`);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.waitForLoadState('networkidle');
      return (await link.count()) > 0 ? true : undefined;
    });
    await countClicks();
    await link.click();
    await press('Edit');
    await page.getByLabel('Daily budget (USD)').fill('1');
    await press('Save');
    await page.getByText('$1.00').first().waitFor();
    expect(await clicks()).toBe(3);
  });

  browsers.it('invites a member in three clicks and two fields', async () => {
    await startOnce();
    await start(await testEnv.tenant());
    await go('Members');
    await press('Invite member');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Email').fill('invited@tasks.example');
    await dialog.getByLabel('Role').selectOption('developer');
    await press('Create invitation');
    expect(await page.getByLabel('Link', { exact: true }).inputValue()).toContain('/invitation');
    expect(await clicks()).toBe(3);
    await press('Done');
  });

  browsers.it('creates a management token in three clicks and two fields', async () => {
    await startOnce();
    await start(await testEnv.tenant());
    await go('Management tokens');
    await press('Create token');
    const dialog = page.getByRole('dialog', { name: 'Create token' });
    await dialog.getByLabel('Name').fill('automation');
    await dialog.getByLabel('Access').selectOption('read_write');
    await dialog.getByRole('button', { name: 'Create token' }).click();
    expect(await page.getByLabel('Token', { exact: true }).inputValue()).not.toBe('');
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
