import { readFile } from 'node:fs/promises';
import type { Tenant } from '@gateway/test-support';
import { browserTests, collectPageErrors, type Browser, type Page } from '../testing/chromium';
import { takeSession } from '../testing/dashboard-page';
import { eventually } from '../testing/eventually';
import { field } from '../testing/field';
import { startTestEnv, type TestEnv } from '../testing/test-env';

jest.setTimeout(180_000);

const browsers = browserTests();
const MODEL = 'demo/small';

interface State {
  readonly source: string;
  readonly text: string;
  readonly version: { readonly version: number } | null;
  readonly routers: readonly { readonly version: number }[];
}

describe('the catalogue in the database', () => {
  let testEnv: TestEnv;
  let tenant: Tenant;
  let browser: Browser;
  let page: Page;
  let errors: readonly string[];

  const startOnce = async () => {
    if (testEnv) return;
    testEnv = await startTestEnv({ env: { GATEWAY_CATALOGUE: 'database' } });
    tenant = await testEnv.tenant();
    browser = await browsers.launch();
    const context = await browser.newContext();
    const { dashboardUrl, adminEmail, adminPassword } = testEnv.gateway;
    await takeSession(context, dashboardUrl, adminEmail, adminPassword);
    page = await context.newPage();
    errors = collectPageErrors(page);
  };
  const open = async (tab: 'models' | 'providers' | 'yaml' | 'history' = 'models') => {
    await startOnce();
    await page.goto(`${testEnv.gateway.dashboardUrl}/operator/catalogue?tab=${tab}`);
    await page.getByRole('link', { name: 'History' }).waitFor();
  };
  afterAll(async () => {
    await browser?.close();
    await testEnv?.stop();
  });

  const state = () => testEnv.admin.call<State>('GET', '/api/operator/catalogue/state');
  const listed = async () => {
    const models = await testEnv.client(tenant.apiKey).models.list();
    return models.data.map(({ id }) => id);
  };
  const chat = (model = MODEL) =>
    testEnv
      .client(tenant.apiKey)
      .chat.completions.create({ model, max_tokens: 4, messages: [{ role: 'user', content: 'Hello' }] })
      .then(
        ({ id }) => id,
        (error: { code?: string }) => error.code,
      );
  const allRun = async (version: number) => {
    await eventually(`every router runs version ${version}`, async () => {
      const { routers } = await state();
      return (routers.length > 0 && routers.every((router) => router.version === version)) || undefined;
    });
    await page.getByRole('link', { name: 'History' }).click();
    const routers = page.getByRole('table', { name: 'Routers' });
    await routers
      .getByRole('cell', { name: String(version), exact: true })
      .first()
      .waitFor();
  };
  const publish = async (comment: string) => {
    await page.getByRole('button', { name: 'Publish', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Publish the draft' });
    await field(dialog, 'Comment').fill(comment);
    await dialog.getByRole('button', { name: 'Publish', exact: true }).click();
    await dialog.waitFor({ state: 'detached' });
  };

  browsers.it('starts with the models file as version 1, and serves it', async () => {
    await open();
    await allRun(1);
    const { text } = await state();
    expect(text).toBe(await readFile('models.yaml', 'utf8'));
    expect(await chat()).toMatch(/^gen-/);
  });

  browsers.it('shows errors by line, and publishes a change that every request gets', async () => {
    await open('yaml');
    const editor = field(page, 'Catalogue text');
    const before = await editor.inputValue();
    await editor.fill(`${before}nonsense: true\n`);
    await page.getByRole('button', { name: 'Check' }).click();
    await page.getByText('The catalogue has errors').waitFor();

    const renamed = before.replace(`id: ${MODEL}\n`, 'id: demo/renamed\n');
    expect(renamed).not.toBe(before);
    const affected = await eventually('the check counts who used the model', async () => {
      const path = '/api/operator/catalogue/check';
      const checked = await testEnv.admin.call<{ affected: unknown[] }>('POST', path, { text: renamed });
      return checked.affected.length > 0 ? checked.affected : undefined;
    });
    expect(affected).toEqual([{ model: MODEL, organizations: 1, keys: 1, requests: 1 }]);
    await editor.fill(renamed);
    await publish('Rename a model.');
    await allRun(2);
    await eventually('the edge lists the new model', async () =>
      (await listed()).includes('demo/renamed') ? true : undefined,
    );
    expect(await chat()).toBe('model_not_found');
    expect(await chat('demo/renamed')).toMatch(/^gen-/);
  });

  browsers.it('keeps the published version over a crash, and rolls back', async () => {
    await startOnce();
    await testEnv.crashAndRestart();
    expect((await state()).version).toMatchObject({ version: 2 });
    expect(await chat('demo/renamed')).toMatch(/^gen-/);
    const context = page.context();
    const { dashboardUrl, adminEmail, adminPassword } = testEnv.gateway;
    await takeSession(context, dashboardUrl, adminEmail, adminPassword);
    await open('history');
    await page.getByRole('button', { name: 'Roll back to version 1' }).click();
    const dialog = page.getByRole('dialog', { name: 'Roll back to version 1' });
    await field(dialog, 'Comment').fill('The old name.');
    await dialog.getByRole('button', { name: 'Roll back', exact: true }).click();
    await dialog.waitFor({ state: 'detached' });
    await allRun(3);
    await eventually('the edge lists the old model', async () =>
      (await listed()).includes(MODEL) ? true : undefined,
    );
    expect(await chat()).toMatch(/^gen-/);
    expect((await state()).text).toBe(await readFile('models.yaml', 'utf8'));
  });

  browsers.it('stores a secret that no page or response shows again, and tests a target', async () => {
    await open('providers');
    const secret = 'sk-end-to-end-secret-1234567890';
    await page.getByRole('button', { name: 'Add secret' }).click();
    const dialog = page.getByRole('dialog', { name: 'Add a secret' });
    await field(dialog, 'Name').fill('acme');
    await field(dialog, 'Value').fill(secret);
    await dialog.getByRole('button', { name: 'Store' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByText('…7890').waitFor();
    expect(await page.content()).not.toContain(secret);
    expect(JSON.stringify(await state())).not.toContain(secret);

    await page.getByRole('link', { name: 'Models', exact: true }).click();
    await page.getByRole('button', { name: 'Test a model' }).click();
    const target = field(page, 'Target').locator('option', { hasText: `${MODEL} → ` });
    await field(page, 'Target').selectOption(await target.innerText());
    await page.getByRole('button', { name: 'Request one token' }).click();
    await page.getByText(/The provider responded after/).waitFor();
    expect(errors).toEqual([]);
  });

  browsers.it('proposes published prices', async () => {
    await startOnce();
    const { text } = await state();
    const hosted = text.replace(
      /^models:\n/m,
      `  - { name: hosted, preset: anthropic, api_key_secret: acme }
models:
  - id: hosted/sonnet
    targets: [{ provider: hosted, model: claude-sonnet-4-5 }]
    context_window: 200000
    max_output_tokens: 64000
    prices: { input: '1', output: '1' }
`,
    );
    const body = { text: hosted, margin_percent: 10 };
    const proposed = await testEnv.admin.call<{
      text: string;
      changed_models: string[];
      new_models: { model: string }[];
    }>('POST', '/api/operator/catalogue/proposals', body);
    expect(proposed.changed_models).toEqual(['hosted/sonnet']);
    expect(proposed.text).toContain("input: '3.3'");
    expect(proposed.new_models.map(({ model }) => model)).toContain('claude-opus-4-5');
    expect((await state()).text).toBe(text);
  });

  browsers.it('changes a price in a form, with the messages of the models file', async () => {
    await open();
    const { text: before, version } = await state();
    await page.getByRole('button', { name: `Edit ${MODEL}`, exact: true }).click();
    const form = page.getByRole('dialog');
    const price = field(form, 'Input prices.input');
    await price.fill('a lot');
    await form.getByRole('button', { name: 'Apply to the draft' }).click();
    await form.getByText(/^must be a decimal from "0"/).waitFor();
    await price.fill('0.75');
    await form.getByRole('button', { name: 'Apply to the draft' }).click();
    await form.waitFor({ state: 'detached' });
    await publish('Raise a price.');
    await allRun((version?.version ?? 0) + 1);
    const { text: after } = await state();
    expect(after).toContain("input: '0.75'");
    const commentsOf = (text: string) => text.match(/#.*$/gm);
    expect(commentsOf(after)).toEqual(commentsOf(before));
    expect(await chat()).toMatch(/^gen-/);
  });

  browsers.it('publishes a tested model of a new provider with five clicks and three fields', async () => {
    await open('providers');
    const { version } = await state();
    await page.evaluate(
      'clicks = 0; addEventListener("click", ({ detail }) => { if (detail > 0) clicks += 1; })',
    );
    await page.getByRole('button', { name: 'Add provider' }).click();
    const dialog = page.getByRole('dialog');
    await field(dialog, 'Service').selectOption('Anthropic');
    await field(dialog, 'API key').fill('sk-ant-end-to-end-0987654321');
    await dialog.getByRole('button', { name: 'Add provider' }).click();
    await dialog.getByRole('combobox', { name: 'Model' }).fill('claude-sonnet-4-5');
    await dialog
      .getByRole('option', { name: /^anthropic\/claude-sonnet-4-5 · / })
      .first()
      .waitFor();
    await page.keyboard.press('Enter');
    await dialog.getByRole('button', { name: 'Apply to the draft' }).click();
    // The network of the test has no provider.
    await dialog.getByText(/^The (?:test failed|provider responded) after/).waitFor();
    await dialog.getByRole('button', { name: 'Publish' }).click();
    const publication = page.getByRole('dialog', { name: 'Publish the draft' });
    await publication.getByText('targets[0].cost.input').waitFor();
    await publication.getByRole('button', { name: 'Publish', exact: true }).click();
    await publication.waitFor({ state: 'detached' });
    expect(await page.evaluate('clicks')).toBe(5);
    await allRun((version?.version ?? 0) + 1);
    const { text } = await state();
    expect(text).toContain('anthropic/claude-sonnet-4-5');
    expect(text).not.toContain('sk-ant-end-to-end');
    expect(await listed()).toContain('anthropic/claude-sonnet-4-5');
    expect(errors).toEqual([]);
  });

  browsers.it('downloads the text in effect byte for byte', async () => {
    await open();
    const download = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Export YAML' }).click();
    const file = await download;
    expect(file.suggestedFilename()).toBe('models.yaml');
    expect(await readFile(await file.path(), 'utf8')).toBe((await state()).text);
  });
});
