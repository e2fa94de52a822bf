import { mkdtempSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { browserTests, type Browser } from '../testing/chromium';
import { takeSession } from '../testing/dashboard-page';
import { eventually } from '../testing/eventually';
import { field } from '../testing/field';
import { PASSWORD, personWith } from '../testing/people';
import { startTestEnv, type TestEnv } from '../testing/test-env';

jest.setTimeout(180_000);

const browsers = browserTests();

const MODELS = `providers:
  - name: broken
    base_url: http://127.0.0.1:9/v1
    region: us-east-1
    max_attempts: 1
  - name: emulator
    base_url: \${MODEL_EMULATOR_URL}
models:
  - id: test/both
    targets:
      - { provider: broken, model: emu-small }
      - { provider: emulator, model: emu-small, region: eu }
    context_window: 8192
    max_output_tokens: 1024
    prices: { input: '0.10', output: '0.40' }
  - id: test/nowhere
    targets: [{ provider: emulator, model: emu-small }]
    context_window: 8192
    max_output_tokens: 1024
    prices: { input: '0.10', output: '0.40' }
`;

describe('allowed providers and regions in the dashboard, in a real browser', () => {
  let testEnv: TestEnv;
  let browser: Browser;

  afterAll(async () => {
    await browser?.close();
    await testEnv?.stop();
  });

  browsers.it('an admin allows one region, and requests go to its targets only', async () => {
    const file = path.join(mkdtempSync(path.join(os.tmpdir(), 'gateway-models-')), 'models.yaml');
    writeFileSync(file, MODELS);
    testEnv = await startTestEnv({ modelsFile: file });
    browser = await browsers.launch();
    const { dashboardUrl, baseUrl } = testEnv.gateway;
    const { organizationId, apiKey } = await testEnv.tenant();
    const authorization = { authorization: `Bearer ${apiKey}` };
    const listed = async () => {
      const response = await fetch(`${baseUrl}/models`, { headers: authorization });
      return ((await response.json()) as { data: { id: string }[] }).data.map(({ id }) => id);
    };
    const chat = (model: string) =>
      testEnv
        .client(apiKey)
        .chat.completions.create({ model, max_tokens: 8, messages: [{ role: 'user', content: 'Hello' }] })
        .then(
          ({ id }) => id,
          (error: { code?: string }) => error.code ?? '',
        );
    const callsOf = (generationId: string) =>
      eventually('the settled generation', () =>
        testEnv.admin
          .call<{ generation: { attempts: readonly { provider: string; reason: string }[] } }>(
            'GET',
            `/api/organizations/${organizationId}/generations/${generationId}`,
          )
          .then(
            ({ generation }) => generation.attempts.map(({ provider, reason }) => `${provider}: ${reason}`),
            () => undefined,
          ),
      );
    expect(await listed()).toEqual(['test/both', 'test/nowhere']);
    expect(await callsOf(await chat('test/both'))).toEqual(['broken: order', 'emulator: failover']);

    const email = 'admin@example.com';
    await personWith(testEnv.admin, dashboardUrl, { organizationId, email, role: 'admin' });
    const context = await browser.newContext();
    await takeSession(context, dashboardUrl, email, PASSWORD);
    const page = await context.newPage();
    await page.goto(`${dashboardUrl}/o/${organizationId}/limits`);
    await page.getByRole('button', { name: 'Change providers and regions' }).click();
    await page
      .getByText('In the catalogue: eu, us-east-1. A provider without a region is excluded.')
      .waitFor();
    await field(page, 'Allowed regions').fill('EU');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Providers and regions updated.').waitFor();

    expect(await listed()).toEqual(['test/both']);
    expect(await chat('test/nowhere')).toBe('model_not_allowed');
    expect(await callsOf(await chat('test/both'))).toEqual(['emulator: order']);

    await page.getByRole('button', { name: 'Change providers and regions' }).click();
    await field(page, 'Denied providers').fill('not a name!');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Denied providers, entry 3 must be 1 to 64 letters').waitFor();
    await field(page, 'Denied providers').fill('emulator');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Providers and regions updated.').first().waitFor();
    await page.getByRole('button', { name: 'Change providers and regions' }).waitFor();
    expect(await chat('test/both')).toBe('model_not_allowed');
    expect(await listed()).toEqual([]);
    await page.goto(`${dashboardUrl}/o/${organizationId}/audit`);
    await page.getByText('Allowed providers and regions changed').first().waitFor();
  });
});
