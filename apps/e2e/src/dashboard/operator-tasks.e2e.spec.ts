import { startIdentityProvider, type IdentityProviderUnderTest } from '@gateway/test-support';
import { browserTests, collectPageErrors, type Browser, type Page } from '../testing/chromium';
import { signInByPage } from '../testing/dashboard-page';
import { eventually } from '../testing/eventually';
import { field } from '../testing/field';
import { startTestEnv, type TestEnv } from '../testing/test-env';

jest.setTimeout(180_000);

const browsers = browserTests();

/** Frequent tasks of operators, with their number of clicks. */
describe('tasks of operators in the dashboard, in a real browser', () => {
  let provider: IdentityProviderUnderTest;
  let testEnv: TestEnv;
  let browser: Browser;
  let page: Page;
  let errors: readonly string[];

  const startOnce = async () => {
    if (testEnv) return;
    provider = await startIdentityProvider();
    testEnv = await startTestEnv({ env: { ...provider.environment, GATEWAY_CATALOGUE: 'database' } });
    browser = await browsers.launch();
    page = await browser.newPage();
    errors = collectPageErrors(page);
    const { dashboardUrl, adminEmail, adminPassword } = testEnv.gateway;
    await signInByPage(page, dashboardUrl, adminEmail, adminPassword);
  };

  afterAll(async () => {
    await browser?.close();
    await testEnv?.stop();
    await provider?.close();
  });

  /** Opens a page, from where clicks of a pointer count. */
  async function start(path: string) {
    await page.goto(testEnv.gateway.dashboardUrl + path);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.evaluate(
      'clicks = 0; addEventListener("click", ({ detail }) => { if (detail > 0) clicks += 1; }, true)',
    );
  }
  const clicks = () => page.evaluate('clicks');
  const go = (name: string) => page.getByRole('link', { name, exact: true }).first().click();

  browsers.it('rolls a price back in four clicks and one field, with what it changes', async () => {
    await startOnce();
    const { admin } = testEnv;
    const { text } = await admin.call<{ text: string }>('GET', '/api/operator/catalogue/state');
    const dearer = text.replace(/^( +output: ')[\d.]+/m, '$1987');
    expect(dearer).not.toBe(text);
    const draft = '/api/operator/catalogue/draft';
    const { draft: saved } = await admin.call<{ draft: { revision: number } }>('PUT', draft, {
      ...{ text: dearer, expected_revision: 0 },
    });
    await admin.call('POST', '/api/operator/catalogue/publish', {
      ...{ comment: 'By mistake.', draft_revision: saved.revision, expected_version: 1 },
    });
    const { organizationId } = await testEnv.tenant();
    await start(`/o/${organizationId}`);
    await go('Catalogue');
    await go('History');
    await page.getByRole('button', { name: 'Roll back to version 1' }).click();
    const dialog = page.getByRole('dialog', { name: 'Roll back to version 1' });
    await dialog.getByRole('list', { name: 'Changes' }).getByText(/987/).first().waitFor();
    await field(dialog, 'Comment').fill('The price before.');
    await dialog.getByRole('button', { name: 'Roll back', exact: true }).click();
    await page.getByText('Version 3 is published.').waitFor();
    expect(await clicks()).toBe(4);
    const state = await admin.call<{ text: string }>('GET', '/api/operator/catalogue/state');
    expect(state.text).toBe(text);
  });

  browsers.it('maps a domain for single sign-on in three clicks and one field', async () => {
    await startOnce();
    const { organizationId } = await testEnv.tenant();
    await start(`/o/${organizationId}`);
    await go('Members');
    await page.getByRole('button', { name: 'Map domain' }).click();
    await page.getByRole('textbox', { name: 'Domain' }).fill('tasks.example');
    await page.getByRole('button', { name: 'Map', exact: true }).click();
    await page.getByRole('cell', { name: 'tasks.example', exact: true }).waitFor();
    expect(await clicks()).toBe(3);
  });

  browsers.it('shows the margin of each organization, and of each provider, in one click', async () => {
    await startOnce();
    const { organizationId, apiKey } = await testEnv.tenant();
    await testEnv.client(apiKey).chat.completions.create({
      model: 'demo/small',
      max_tokens: 4,
      messages: [{ role: 'user', content: 'Hello!' }],
    });
    await eventually('the usage of the platform', async () => {
      const { last_30_days: used } = await testEnv.admin.call<{ last_30_days: { requests: number } }>(
        'GET',
        '/api/operator/usage',
      );
      return used.requests > 0 ? true : undefined;
    });
    await start(`/o/${organizationId}`);
    await go('Organizations');
    await page.getByRole('columnheader', { name: /Margin/ }).waitFor();
    expect(await clicks()).toBe(1);
    await start(`/o/${organizationId}`);
    await go('Platform usage');
    await page
      .getByRole('table', { name: 'By provider' })
      .getByRole('columnheader', { name: 'Margin' })
      .waitFor();
    expect(await clicks()).toBe(1);
    expect(errors).toEqual([]);
  });
});
