import { eventually } from '@gateway/test-support';
import { browserTests, type Browser, type Page } from '../testing/chromium';
import { takeSession } from '../testing/dashboard-page';
import { field } from '../testing/field';
import { PASSWORD, personWith, type Role } from '../testing/people';
import { joinTestEnv, type SharedTestEnv } from '../testing/test-env';

jest.setTimeout(180_000);

const browsers = browserTests();

const MARKER = 'the quick quokka';

describe('the content log in the dashboard, in a real browser', () => {
  let testEnv: SharedTestEnv;
  let browser: Browser;

  afterAll(async () => {
    await browser?.close();
    await testEnv?.stop();
  });

  async function pageOf(organizationId: string, role: Role): Promise<Page> {
    const { dashboardUrl } = testEnv.gateway;
    const email = `${role}@content-log.example`;
    await personWith(testEnv.admin, dashboardUrl, { organizationId, email, role });
    const context = await browser.newContext();
    await takeSession(context, dashboardUrl, email, PASSWORD);
    return context.newPage();
  }

  browsers.it('an owner turns it on, reads a prompt and response, erases it, and turns it off', async () => {
    testEnv = await joinTestEnv();
    browser = await browsers.launch();
    const { dashboardUrl } = testEnv.gateway;
    const { organizationId, apiKey } = await testEnv.tenant();
    const inOrganization = (path: string) => `${dashboardUrl}/o/${organizationId}${path}`;
    const [owner, admin] = [await pageOf(organizationId, 'owner'), await pageOf(organizationId, 'admin')];
    const generation = async (): Promise<string> => {
      const { id } = await testEnv.client(apiKey).chat.completions.create({
        model: 'demo/small',
        max_tokens: 40,
        messages: [{ role: 'user', content: MARKER }],
      });
      await eventually('the settled generation', () =>
        testEnv.admin
          .call('GET', `/api/organizations/${organizationId}/generations/${id}`)
          .catch(() => undefined),
      );
      return id;
    };

    const before = await generation();
    await owner.goto(inOrganization(`/generations/${before}`));
    await owner.getByRole('button', { name: 'Show' }).click();
    await owner.getByText('Nothing is stored: the content log is off.').waitFor();

    await owner.goto(inOrganization('/content-log'));
    await owner.getByText('Not stored', { exact: true }).waitFor();
    await field(owner, 'Days until deletion').fill('31');
    await owner.getByRole('button', { name: 'Turn on' }).click();
    await owner.getByText('Enter a number from 1 to 30.').waitFor();
    await field(owner, 'Days until deletion').fill('14');
    await owner.getByRole('button', { name: 'Turn on' }).click();
    await owner.getByRole('dialog').getByText('are stored for 14 days').waitFor();
    await owner.getByRole('dialog').getByRole('button', { name: 'Turn on' }).click();
    await owner.getByText('14 days', { exact: true }).waitFor();

    const id = await generation();
    await owner.goto(inOrganization(`/generations/${id}`));
    await owner.getByRole('button', { name: 'Show' }).waitFor();
    expect(await owner.getByText(MARKER).count()).toBe(0);
    await owner.getByRole('button', { name: 'Show' }).click();
    await owner.getByText(`"content": "${MARKER}"`).waitFor();
    await owner.getByText('"object": "chat.completion"').waitFor();

    await admin.goto(inOrganization(`/generations/${id}`));
    await admin.getByRole('heading', { name: 'Details' }).waitFor();
    expect(await admin.getByText('Prompt and response').count()).toBe(0);
    await admin.goto(inOrganization('/content-log'));
    await admin.getByText('Only owners of the organization can change this.').waitFor();
    expect(await admin.getByRole('button', { name: 'Turn off' }).count()).toBe(0);
    await admin.goto(inOrganization('/audit'));
    await admin.getByText('Prompt and response read').first().waitFor();

    await owner.getByRole('button', { name: 'Erase' }).click();
    await owner.getByRole('dialog').getByRole('button', { name: 'Erase' }).click();
    await owner.getByText('The prompt and response were erased.').waitFor();
    await owner.getByRole('button', { name: 'Show' }).click();
    await owner.getByText('Nothing is stored for this generation.').waitFor();

    const last = await generation();
    await owner.goto(inOrganization('/content-log'));
    await owner.getByRole('button', { name: 'Turn off' }).click();
    await field(owner.getByRole('dialog'), 'Erase everything that is stored').check();
    await owner.getByRole('dialog').getByRole('button', { name: 'Turn off' }).click();
    await owner.getByText('Not stored', { exact: true }).waitFor();
    await owner.goto(inOrganization(`/generations/${last}`));
    await owner.getByRole('button', { name: 'Show' }).click();
    await owner.getByText('Nothing is stored: the content log is off.').waitFor();
  });
});
