import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { findFreePort } from '@gateway/database';
import type { Balance } from '@gateway/test-support';
import { browserTests, collectPageErrors, type Browser, type Page } from '../testing/chromium';
import { nanoUsdIn, storageOf, takeSession } from '../testing/dashboard-page';
import { eventually } from '../testing/eventually';
import { field } from '../testing/field';
import { PASSWORD, personWith } from '../testing/people';
import { pngDataUri } from '../testing/png';
import { startTestEnv, type TestEnv } from '../testing/test-env';

jest.setTimeout(180_000);

const browsers = browserTests();
const run = promisify(execFile);
const EMAIL = 'player@example.com';

describe('the playground, in a real browser', () => {
  let testEnv: TestEnv;
  let browser: Browser;
  let page: Page;
  let organizationId: string;
  let apiKey: string;

  const startOnce = async () => {
    if (testEnv) return;
    // The playground calls the public API from the dashboard's origin, which CORS needs to know at startup.
    testEnv = await startTestEnv({ env: { GATEWAY_DASHBOARD_PORT: String(await findFreePort()) } });
    browser = await browsers.launch();
    ({ organizationId, apiKey } = await testEnv.tenant({ credit: '5' }));
    const { dashboardUrl } = testEnv.gateway;
    await personWith(testEnv.admin, dashboardUrl, { organizationId, email: EMAIL, role: 'admin' });
    const context = await browser.newContext();
    await takeSession(context, dashboardUrl, EMAIL, PASSWORD);
    page = await context.newPage();
  };
  afterAll(async () => {
    await browser?.close();
    await testEnv?.stop();
  });

  const open = (model: string) =>
    page.goto(`${testEnv.gateway.dashboardUrl}/o/${organizationId}/playground?model=${model}`);
  const send = async (text: string) => {
    await field(page, 'Message').fill(text);
    await page.getByText(/^Max \$/).waitFor();
    await page.getByRole('button', { name: 'Send' }).click();
  };
  const available = () => nanoUsdIn(page.getByText(/^Available \$/));
  /** The balance, once no credit is reserved. */
  const settledBalance = () =>
    eventually('nothing is reserved', async () => {
      const { balance } = await testEnv.admin.call<{ balance: Balance }>(
        'GET',
        `/api/organizations/${organizationId}/balance`,
      );
      return Number(balance.reserved_usd) === 0 ? balance : undefined;
    });
  const response = () => page.locator('[aria-busy]').last();
  /** The newest generation, once it is settled and has this status. */
  const newestWith = (status: string) =>
    eventually(`a generation that is ${status}`, async () => {
      const { data } = await testEnv.admin.call<{
        data: { status: string; completion_tokens: number }[];
      }>('GET', `/api/organizations/${organizationId}/generations?page_size=1`);
      return data[0]?.status === status ? data[0] : undefined;
    });

  browsers.it('shows the maximum cost, streams, and charges the cost that it shows', async () => {
    await startOnce();
    const pageErrors = collectPageErrors(page);
    await open('demo/small');
    await page.getByText('Available $5.00').waitFor();
    await field(page, 'Max output tokens').fill('60');
    await field(page, 'Message').fill('Tell me something. [[tokens:60]] [[rate:12]]');
    const estimate = await nanoUsdIn(page.getByText(/^Max \$/));
    expect(await page.getByText(/^Max \$/).innerText()).toMatch(/input tokens and up to 60 output tokens/);
    await page.getByRole('button', { name: 'Send' }).click();

    // The response grows while it can still be stopped.
    const lengths = new Set<number>();
    await eventually('the response grows', async () => {
      expect(await page.getByRole('button', { name: 'Stop' }).count()).toBe(1);
      lengths.add((await response().count()) === 0 ? 0 : (await response().innerText()).length);
      return lengths.size >= 3 ? true : undefined;
    });
    await page.getByRole('link', { name: 'Details' }).waitFor();
    const cost = await nanoUsdIn(page.getByText(/^Cost \$/));
    expect(cost).toBeGreaterThan(0n);
    expect(cost).toBeLessThanOrEqual(estimate);
    // The balance decreases by exactly this cost, without a reload.
    await eventually('the balance decreases', async () =>
      (await available()) === 5_000_000_000n - cost ? true : undefined,
    );
    await newestWith('completed');
    await page.getByRole('link', { name: 'Details' }).click();
    const charged = page.locator('div', { has: page.getByText('Charged', { exact: true }) }).last();
    expect(await nanoUsdIn(charged.locator('dd').first())).toBe(cost);

    // The playground's key is not stored in the browser.
    const stored = await storageOf(page);
    expect(stored).not.toContain('sk-gw-');
    expect(pageErrors).toEqual([]);
  });

  browsers.it(
    'stops a generation on request, and records it as cancelled with its partial output',
    async () => {
      await startOnce();
      await open('demo/small');
      await send('Tell me something long. [[tokens:400]] [[rate:20]]');
      await eventually('output arrives', async () =>
        (await response().count()) > 0 && (await response().innerText()).length > 20 ? true : undefined,
      );
      await page.getByRole('button', { name: 'Stop' }).click();
      await page.getByRole('button', { name: 'Send' }).waitFor();
      const newest = await newestWith('cancelled');
      expect(newest.completion_tokens).toBeGreaterThan(0);
      expect(newest.completion_tokens).toBeLessThan(400);
    },
  );

  browsers.it(
    'renders Markdown of the model, its HTML as text, and loads nothing from elsewhere',
    async () => {
      await startOnce();
      const pageErrors = collectPageErrors(page);
      const foreign: string[] = [];
      page.on('request', (request) => {
        if (request.url().includes('elsewhere.example')) foreign.push(request.url());
      });
      await open('demo/small');
      await send(
        '[[say:**important** <img src=https://elsewhere.example/a.png> https://elsewhere.example/b]]',
      );
      await page.getByRole('link', { name: 'Details' }).waitFor();
      await response().locator('strong', { hasText: 'important' }).waitFor();
      expect(await response().innerText()).toContain('<img src=https://elsewhere.example/a.png>');
      const link = response().getByRole('link', { name: 'https://elsewhere.example/b' });
      expect(await link.getAttribute('rel')).toContain('noopener');
      expect(await response().locator('img').count()).toBe(0);
      expect(foreign).toEqual([]);
      expect(pageErrors).toEqual([]);
    },
  );

  browsers.it('sends an image, and shows a tool call', async () => {
    await startOnce();
    await open('demo/vision');
    await field(page, 'Image').setInputFiles({
      name: 'square.png',
      mimeType: 'image/png',
      buffer: Buffer.from(pngDataUri(64, 64).split(',')[1] ?? '', 'base64'),
    });
    await page.getByAltText('Attachment: square.png').waitFor();
    await send('What do you see?');
    await page.getByAltText('Attached image').waitFor();
    // The provider reports the image that it received.
    await page.getByText('I see 1 image of 64x64 pixels.').waitFor();
    await page.getByRole('button', { name: 'Insert example' }).click();
    await send('What is the weather where this was taken?');
    await page.getByText('Tool call: get_weather').waitFor();
    await page.getByRole('link', { name: 'Details' }).nth(1).waitFor();
  });

  browsers.it('shows the API error of a rejected request, and spends nothing', async () => {
    await startOnce();
    const before = await settledBalance();
    await open('demo/small');
    await field(page, 'Message').fill('[[fault:400]]');
    await page.getByText(/^Max \$/).waitFor();
    await page.getByRole('button', { name: 'Send' }).click();
    const alert = page.getByRole('alert');
    await alert.waitFor();
    expect(await alert.innerText()).toMatch(/request ID req_\w+/);
    expect(await settledBalance()).toEqual(before);
  });

  browsers.it('shows the same request as code that runs', async () => {
    await startOnce();
    await open('demo/small');
    await field(page, 'System instructions').fill('Be brief, it\'s "late".');
    await field(page, 'Message').fill('Hello! [[say:from a program]]');
    await page.getByRole('button', { name: 'Code', exact: true }).click();
    const code = async (language: string) => {
      await page.getByRole('button', { name: language, exact: true }).click();
      return (await page.locator('pre').innerText()).replace('sk-gw-…', apiKey);
    };
    const curl = await run('sh', ['-c', await code('curl')]);
    expect(curl.stdout).toContain('"finish_reason":"stop"');

    // Inside the repository, so that Node finds the package `openai`.
    const folder = mkdtempSync(path.resolve('dist', 'playground-'));
    try {
      const program = path.join(folder, 'program.mjs');
      writeFileSync(program, await code('Node'));
      const node = await run(process.execPath, [program]);
      expect(node.stdout).toContain('from a program');
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
    expect(await code('Python')).toContain(`content": "Be brief, it's \\"late\\"."`);
  });
});
