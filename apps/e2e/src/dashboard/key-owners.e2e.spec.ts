import { browserTests, type Browser, type Page } from '../testing/chromium';
import { createKeyByPage, takeSession } from '../testing/dashboard-page';
import { field } from '../testing/field';
import { PASSWORD, personWith, type Role } from '../testing/people';
import { joinTestEnv, type SharedTestEnv } from '../testing/test-env';

jest.setTimeout(180_000);

const browsers = browserTests();

describe('owners of keys in the dashboard, in a real browser', () => {
  let testEnv: SharedTestEnv;
  let browser: Browser;

  afterAll(async () => {
    await browser?.close();
    await testEnv?.stop();
  });

  async function pageOf(organizationId: string, email: string, role: Role): Promise<Page> {
    const { dashboardUrl } = testEnv.gateway;
    await personWith(testEnv.admin, dashboardUrl, { organizationId, email, role });
    const context = await browser.newContext();
    await takeSession(context, dashboardUrl, email, PASSWORD);
    return context.newPage();
  }

  browsers.it('an admin finds the key of a developer who left, and transfers it to another', async () => {
    testEnv = await joinTestEnv();
    browser = await browsers.launch();
    const { dashboardUrl } = testEnv.gateway;
    const { organizationId } = await testEnv.tenant();
    const keys = `${dashboardUrl}/o/${organizationId}/keys`;
    const leaving = await pageOf(organizationId, 'leaving@example.com', 'developer');
    const secret = await createKeyByPage(leaving, dashboardUrl, organizationId, 'nightly batch');
    const staying = await pageOf(organizationId, 'staying@example.com', 'developer');
    await staying.goto(keys);
    await staying.getByRole('link', { name: 'nightly batch' }).click();
    await staying.getByText('leaving@example.com').waitFor();
    expect(await staying.getByRole('button', { name: 'Edit' }).count()).toBe(0);

    const admin = await pageOf(organizationId, 'admin@key-owners.example', 'admin');
    await admin.goto(`${dashboardUrl}/o/${organizationId}/members`);
    await admin.getByRole('button', { name: 'Actions for leaving@example.com' }).click();
    await admin.getByRole('menuitem', { name: 'Remove member' }).click();
    await admin.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await admin.getByRole('dialog').waitFor({ state: 'detached' });
    await admin.goto(keys);
    await admin.getByText('Keys of people who left').waitFor();
    await admin.getByRole('link', { name: 'Transfer or revoke them' }).click();
    await admin.getByRole('link', { name: 'nightly batch' }).click();
    await admin.getByText('The owner has left').waitFor();
    await admin.getByRole('button', { name: 'Transfer' }).click();
    await field(admin, 'New owner').selectOption({ label: 'staying@example.com' });
    await admin.getByRole('button', { name: 'Transfer key' }).click();
    await admin.getByText('Key transferred.').waitFor();
    await admin.getByText('The owner has left').waitFor({ state: 'detached' });

    await staying.reload();
    await staying.getByRole('button', { name: 'Edit' }).waitFor();
    const completion = await testEnv.client(secret).chat.completions.create({
      model: 'demo/small',
      max_tokens: 20,
      messages: [{ role: 'user', content: 'Hello!' }],
    });
    expect(completion.choices[0]?.message.content).toBeTruthy();
  });
});
