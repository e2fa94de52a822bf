import { APIError } from 'openai';
import { browserTests, type Browser, type Page } from '../testing/chromium';
import { nanoUsdIn, signInByPage } from '../testing/dashboard-page';
import { field } from '../testing/field';
import { joinTestEnv, type SharedTestEnv } from '../testing/test-env';

jest.setTimeout(180_000);

const browsers = browserTests();

describe('money in the dashboard, in a real browser', () => {
  let testEnv: SharedTestEnv;
  let browser: Browser;
  let page: Page;

  const startOnce = async () => {
    if (testEnv) return;
    testEnv = await joinTestEnv();
    browser = await browsers.launch();
    page = await browser.newPage();
    const { dashboardUrl, adminEmail, adminPassword } = testEnv.gateway;
    await signInByPage(page, dashboardUrl, adminEmail, adminPassword);
  };

  afterAll(async () => {
    await browser?.close();
    await testEnv?.stop();
  });

  const complete = (apiKey: string) =>
    testEnv.client(apiKey).chat.completions.create({
      model: 'demo/small',
      max_tokens: 20,
      messages: [{ role: 'user', content: 'Hello!' }],
    });
  const errorOf = async (apiKey: string) => {
    const error: unknown = await complete(apiKey).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(APIError);
    return [(error as APIError).status, (error as APIError).code];
  };
  const open = (path: string) => page.goto(testEnv.gateway.dashboardUrl + path);

  browsers.it('leads from a new organization to a first response in four steps', async () => {
    await startOnce();
    await open('/operator/organizations');
    await page.getByRole('button', { name: 'Create organization' }).click();
    await field(page.getByRole('dialog'), 'Name').fill('First steps');
    await page.getByRole('dialog').getByRole('button', { name: 'Create organization' }).click();
    await page.getByRole('heading', { name: 'First steps', level: 1 }).waitFor();

    await page.getByRole('link', { name: 'Continue setup' }).click();
    await field(page, 'Amount').fill('$5');
    await page.getByRole('button', { name: 'Add $5.00' }).click();
    await page.getByRole('button', { name: 'Create key' }).click();
    const secret = await field(page, 'Your key').inputValue();
    await page.getByText('Waiting for your first request…').waitFor();
    await complete(secret);
    // The page updates automatically.
    await page.getByText('Your first request succeeded.').waitFor();
    await page.getByRole('link', { name: 'Go to overview' }).click();
    await page.getByRole('heading', { name: 'First steps', level: 1 }).waitFor();
    await page.getByRole('table', { name: 'Latest generations' }).getByRole('link').first().waitFor();
  });

  browsers.it(
    'shows spend at settlement, without a reload, and with the same amounts as /v1/credits',
    async () => {
      await startOnce();
      const { organizationId, apiKey } = await testEnv.tenant({ credit: '1' });
      await open(`/o/${organizationId}/credit`);
      const figure = (name: string) =>
        page
          .locator('div', { has: page.getByText(name, { exact: true }) })
          .last()
          .locator('dd')
          .first();
      await page.getByText('$1.00').first().waitFor();
      await complete(apiKey);
      const credits = async () =>
        (
          (await (
            await fetch(`${testEnv.gateway.baseUrl}/credits`, {
              headers: { authorization: `Bearer ${apiKey}` },
            })
          ).json()) as { data: { total_usage: number; balance: number } }
        ).data;
      await page
        .locator('dd', { hasText: /^\$0\.000\d/ })
        .first()
        .waitFor();
      const { balance, total_usage: usage } = await credits();
      expect(usage).toBeGreaterThan(0);
      const exact = async (name: string) => Number(await nanoUsdIn(figure(name))) / 1e9;
      expect(await exact('Balance')).toBe(balance);
      expect(await exact('Spent today')).toBe(usage);
      // Balances are shown in cents, and small costs with three significant digits.
      expect(await figure('Balance').innerText()).toBe('$0.99');
      expect(await figure('Spent today').innerText()).toMatch(/^\$0\.0{2,}[1-9]\d{0,2}$/);
    },
  );

  browsers.it('adds credit after a 402, and the next API call succeeds', async () => {
    await startOnce();
    const { organizationId, apiKey } = await testEnv.tenant({ credit: '0' });
    expect(await errorOf(apiKey)).toEqual([402, 'insufficient_credits']);
    await open(`/o/${organizationId}/credit`);
    await page.getByRole('button', { name: 'Add credit' }).click();
    const dialog = page.getByRole('dialog');
    await field(dialog, 'Amount').fill('2.50');
    await field(dialog, 'Note').fill('invoice 4711');
    await dialog.getByText(/\$0.00 now, \$2.50 afterwards/).waitFor();
    await dialog.getByRole('button', { name: 'Add $2.50' }).click();
    await page.getByText('$2.50 added.').waitFor();
    await complete(apiKey);
    await field(page, 'Show').selectOption('Credits and corrections');
    await page
      .getByRole('row', { name: /Credit added/ })
      .getByText('invoice 4711')
      .waitFor();
  });

  browsers.it('sums the statement by day, with the transactions of a day on request', async () => {
    await startOnce();
    const { organizationId, apiKey } = await testEnv.tenant({ credit: '2' });
    await complete(apiKey);
    await complete(apiKey);
    const today = new Date().toISOString().slice(0, 10);
    await open(`/o/${organizationId}/credit`);
    const days = page.getByRole('table', { name: /^Statement for .* by day$/ });
    // One line for all generations of the day; the alert's settings come before the statement.
    await days.getByRole('cell', { name: '$2.00', exact: true }).waitFor();
    expect(await days.getByRole('row').count()).toBe(2);
    expect(await page.getByRole('heading', { level: 2 }).allInnerTexts()).toEqual(['Alerts', 'Statement']);
    await days.getByRole('link').click();
    const lines = page.getByRole('table', { name: /^Transactions of/ });
    await lines.getByRole('row').nth(3).waitFor();
    expect(await lines.getByRole('row').count()).toBe(4);
    expect(new URL(page.url()).searchParams.get('day')).toBe(today);
    await page.getByRole('button', { name: 'All days' }).click();
    await days.waitFor();
    await field(page, 'Show').selectOption('Credits and corrections');
    const credits = page.getByRole('table', { name: /^Credits and corrections of/ });
    await credits.waitFor();
    expect(await credits.getByRole('row').count()).toBe(2);
  });

  browsers.it('corrects credit only after a preview, and never below zero', async () => {
    await startOnce();
    const { organizationId } = await testEnv.tenant({ credit: '3' });
    await open(`/o/${organizationId}/credit`);
    const correct = async (amount: string) => {
      await page.getByRole('button', { name: 'Remove credit' }).click();
      await field(page, 'Amount').fill(amount);
      await field(page, 'Reason').fill('entered twice');
      await page.getByRole('button', { name: 'Preview' }).click();
    };
    await correct('3.01');
    await page.getByRole('dialog').getByRole('alert').waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await correct('1.25');
    await page.getByRole('row', { name: 'Available $3.00 $1.75' }).waitFor();
    await page.getByRole('button', { name: 'Remove $1.25' }).click();
    await page.getByText('$1.25 removed.').waitFor();
    await page.getByText('$1.75').first().waitFor();
  });

  browsers.it('suspends and resumes an organization, in effect once the page reports it', async () => {
    await startOnce();
    const { organizationId, apiKey } = await testEnv.tenant();
    await open(`/operator/organizations?find=${organizationId}`);
    const act = async (action: string) => {
      await page.getByRole('button', { name: /^Actions for/ }).click();
      await page.getByRole('menuitem', { name: action }).click();
      await page.getByRole('dialog').getByRole('button', { name: action }).click();
    };
    await act('Suspend');
    await page.getByText('Organization suspended.').waitFor();
    expect(await errorOf(apiKey)).toEqual([403, 'org_suspended']);
    await act('Resume');
    await page.getByText('Organization resumed.').waitFor();
    await complete(apiKey);
  });
});
