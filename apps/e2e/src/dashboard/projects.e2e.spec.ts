import { browserTests, type Browser, type Page } from '../testing/chromium';
import { takeSession } from '../testing/dashboard-page';
import { eventually } from '../testing/eventually';
import { field } from '../testing/field';
import { PASSWORD, personWith } from '../testing/people';
import { joinTestEnv, type SharedTestEnv } from '../testing/test-env';

jest.setTimeout(180_000);

const browsers = browserTests();

describe('projects in the dashboard, in a real browser', () => {
  let testEnv: SharedTestEnv;
  let browser: Browser;
  let organizationId: string;
  let page: Page;
  let inOrganization: (path: string) => string;

  const startOnce = async () => {
    if (testEnv) return;
    testEnv = await joinTestEnv();
    browser = await browsers.launch();
    const { dashboardUrl } = testEnv.gateway;
    ({ organizationId } = await testEnv.tenant());
    inOrganization = (path) => `${dashboardUrl}/o/${organizationId}${path}`;
    const email = 'admin@projects.example';
    await personWith(testEnv.admin, dashboardUrl, { organizationId, email, role: 'admin' });
    const context = await browser.newContext();
    await takeSession(context, dashboardUrl, email, PASSWORD);
    page = await context.newPage();
  };

  afterAll(async () => {
    await browser?.close();
    await testEnv?.stop();
  });

  const request = (apiKey: string) =>
    testEnv.client(apiKey).chat.completions.create({
      model: 'demo/small',
      messages: [{ role: 'user', content: 'Hello' }],
      max_tokens: 5,
    });

  async function createProject(name: string, budget?: string): Promise<void> {
    await page.goto(inOrganization('/projects'));
    await page.getByRole('button', { name: 'Create project' }).click();
    const dialog = page.getByRole('dialog', { name: 'Create project' });
    await field(dialog, 'Name').fill(name);
    if (budget !== undefined) await field(dialog, 'Total budget').fill(budget);
    await dialog.getByRole('button', { name: 'Create project' }).click();
    await page.getByText('Project created.').waitFor();
  }

  browsers.it('an admin creates one, puts a key into it, and sees what it spends', async () => {
    await startOnce();
    await createProject('Website', '5');
    await page.goto(inOrganization('/keys/new'));
    await field(page, 'Name').fill('web');
    await field(page, 'Project').selectOption({ label: 'Website' });
    await page.getByText('Project budget: $5', { exact: false }).waitFor();
    await page.getByRole('button', { name: 'Create key' }).click();
    const secret = await field(page, 'Your key').inputValue();
    await request(secret);

    await eventually('the spend of the project', async () => {
      const { data } = await testEnv.admin.call<{ data: { spend: { total_usd: string } }[] }>(
        'GET',
        `/api/organizations/${organizationId}/projects`,
      );
      return data[0]?.spend.total_usd === '0' ? undefined : true;
    });
    await page.goto(inOrganization('/projects'));
    const row = page.getByRole('row', { name: /Website/ });
    await row.getByText('of $5').waitFor();
    await row.getByRole('link', { name: 'View keys' }).click();
    await page.getByRole('table', { name: 'Keys' }).getByRole('link', { name: 'Website' }).click();
    await page.getByRole('meter', { name: 'Total budget: This project' }).waitFor();
    await page.getByRole('table', { name: 'Active keys' }).getByRole('link', { name: 'web' }).waitFor();

    await page.goto(inOrganization('/usage?split=project'));
    await page
      .getByRole('table', { name: 'Usage by project' })
      .getByRole('link', { name: 'Website' })
      .click();
    await page.getByRole('table', { name: 'Usage by key' }).getByText('web').waitFor();
  });

  browsers.it('a budget below what was spent refuses the next request, until the key moves', async () => {
    await startOnce();
    await createProject('Tiny', '0.000000001');
    const created = await testEnv.admin.call<{ key: { id: string }; secret: string }>(
      'POST',
      `/api/organizations/${organizationId}/keys`,
      { name: 'moving', scopes: ['chat'] },
    );
    await page.goto(inOrganization(`/keys/${created.key.id}`));
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    await field(page, 'Project').selectOption({ label: 'Tiny' });
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Key updated.').waitFor();
    await expect(request(created.secret)).rejects.toMatchObject({
      status: 402,
      error: { metadata: { scope: 'project', limit_type: 'total_budget' } },
    });
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    await field(page, 'Project').selectOption({ label: 'No project' });
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Tiny', { exact: true }).waitFor({ state: 'detached' });
    await request(created.secret);
  });

  browsers.it('one without keys is archived, and keeps its name in the list', async () => {
    await page.goto(inOrganization('/projects'));
    await page.getByRole('button', { name: 'Archive Website' }).click();
    await page.getByRole('button', { name: 'Archive project' }).click();
    await page.getByText('The project has keys that are not revoked.', { exact: false }).waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Archive Tiny' }).click();
    await page.getByRole('button', { name: 'Archive project' }).click();
    await page.getByText('Project archived.').waitFor();
    await page.getByRole('button', { name: 'Archived', exact: true }).click();
    await page.getByRole('link', { name: 'Tiny' }).waitFor();
    await page.goto(inOrganization('/audit'));
    await page.getByText('Project archived').first().waitFor();
  });
});
