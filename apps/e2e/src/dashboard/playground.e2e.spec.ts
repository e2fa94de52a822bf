import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { findFreePort } from '@gateway/database';
import type { Balance } from '@gateway/test-support';
import { browserTests, complaintsOf, type Browser, type Page } from '../testing/chromium';
import { storageOf, takeSession } from '../testing/dashboard-page';
import { eventually } from '../testing/eventually';
import { PASSWORD, personWith } from '../testing/people';
import { pngDataUri } from '../testing/png';
import { startTestEnv, type TestEnv } from '../testing/test-env';

jest.setTimeout(180_000);

const browsers = browserTests();
const run = promisify(execFile);
const EMAIL = 'player@example.com';

/** Nano-dollars of a text that ends with an amount, such as "Available $1,234.5". */
function nanoUsdIn(text: string): bigint {
  const [, whole = '', fraction = ''] = /\$([\d,]+)\.(\d+)/.exec(text) ?? [];
  return BigInt(whole.replaceAll(',', '') + fraction.padEnd(9, '0'));
}

describe('the playground, in a real browser', () => {
  let testEnv: TestEnv;
  let browser: Browser;
  let page: Page;
  let organizationId: string;
  let apiKey: string;

  const begin = async () => {
    if (testEnv) return;
    // It calls the public API from the dashboard's origin, which has to be known at the start.
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
  const ask = async (text: string) => {
    await page.getByLabel('Message').fill(text);
    await page.getByText(/^Max \$/).waitFor();
    await page.getByRole('button', { name: 'Send' }).click();
  };
  const available = async () => nanoUsdIn(await page.getByText(/^Available \$/).innerText());
  /** Once nothing is held any more. */
  const balanceAtRest = () =>
    eventually('nothing to be held', async () => {
      const { balance } = await testEnv.admin.call<{ balance: Balance }>(
        'GET',
        `/api/organizations/${organizationId}/balance`,
      );
      return Number(balance.reserved_usd) === 0 ? balance : undefined;
    });
  const answer = () => page.locator('[aria-busy]').last();
  /** The newest generation, once it is settled and has this status. */
  const newestWith = (status: string) =>
    eventually(`a generation that is ${status}`, async () => {
      const { data } = await testEnv.admin.call<{
        data: { status: string; completion_tokens: number }[];
      }>('GET', `/api/organizations/${organizationId}/generations?page_size=1`);
      return data[0]?.status === status ? data[0] : undefined;
    });

  browsers.it('says the most it can cost, streams, and charges what it says it did cost', async () => {
    await begin();
    const complaints = complaintsOf(page);
    await open('demo/small');
    await page.getByText('Available $5.00').waitFor();
    await page.getByLabel('Max output tokens').fill('60');
    await page.getByLabel('Message').fill('Tell me something. [[tokens:60]] [[rate:12]]');
    const estimate = await page.getByText(/^Max \$/).innerText();
    expect(estimate).toMatch(/input tokens and up to 60 output tokens/);
    await page.getByRole('button', { name: 'Send' }).click();

    // It grows while it can still be stopped.
    const lengths = new Set<number>();
    await eventually('the answer to grow', async () => {
      expect(await page.getByRole('button', { name: 'Stop' }).count()).toBe(1);
      lengths.add((await answer().count()) === 0 ? 0 : (await answer().innerText()).length);
      return lengths.size >= 3 ? true : undefined;
    });
    await page.getByRole('link', { name: 'Details' }).waitFor();
    const cost = nanoUsdIn(await page.getByText(/^Cost \$/).innerText());
    expect(cost).toBeGreaterThan(0n);
    expect(cost).toBeLessThanOrEqual(nanoUsdIn(estimate));
    // The balance moves by exactly that, without anything being loaded again.
    await eventually('the balance to move', async () =>
      (await available()) === 5_000_000_000n - cost ? true : undefined,
    );
    await newestWith('completed');
    await page.getByRole('link', { name: 'Details' }).click();
    const charged = page.locator('div', { has: page.getByText('Charged', { exact: true }) }).last();
    expect(nanoUsdIn(await charged.locator('dd').first().innerText())).toBe(cost);

    // Its key is in no storage, and ends by itself.
    const stored = await storageOf(page);
    expect(stored).not.toContain('sk-gw-');
    expect(complaints).toEqual([]);
  });

  browsers.it('stops when it is told to, and what came until then is what is charged', async () => {
    await begin();
    await open('demo/small');
    await ask('Tell me something long. [[tokens:400]] [[rate:20]]');
    await eventually('something to come', async () =>
      (await answer().count()) > 0 && (await answer().innerText()).length > 20 ? true : undefined,
    );
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByRole('button', { name: 'Send' }).waitFor();
    const newest = await newestWith('cancelled');
    expect(newest.completion_tokens).toBeGreaterThan(0);
    expect(newest.completion_tokens).toBeLessThan(400);
  });

  browsers.it('shows what a model calls, and sends it a picture', async () => {
    await begin();
    await open('demo/vision');
    await page.getByLabel('Image', { exact: true }).setInputFiles({
      name: 'square.png',
      mimeType: 'image/png',
      buffer: Buffer.from(pngDataUri(64, 64).split(',')[1] ?? '', 'base64'),
    });
    await page.getByAltText('Attachment: square.png').waitFor();
    await ask('What do you see?');
    await page.getByAltText('Attached image').waitFor();
    // What the provider says that it was given.
    await page.getByText('I see 1 image of 64x64 pixels.').waitFor();
    await page.getByRole('button', { name: 'Insert example' }).click();
    await ask('What is the weather where this was taken?');
    await page.getByText('Tool call: get_weather').waitFor();
    await page.getByRole('link', { name: 'Details' }).nth(1).waitFor();
  });

  browsers.it('says in the words of the API why a request is refused, and spends nothing', async () => {
    await begin();
    const before = await balanceAtRest();
    await open('demo/small');
    await page.getByLabel('Message').fill('[[fault:400]]');
    await page.getByText(/^Max \$/).waitFor();
    await page.getByRole('button', { name: 'Send' }).click();
    const refusal = page.getByRole('alert');
    await refusal.waitFor();
    expect(await refusal.innerText()).toMatch(/request ID req_\w+/);
    expect(await balanceAtRest()).toEqual(before);
  });

  browsers.it('shows the same request as programs that run', async () => {
    await begin();
    await open('demo/small');
    await page.getByLabel('System instructions').fill('Be brief, it\'s "late".');
    await page.getByLabel('Message').fill('Hello! [[say:from a program]]');
    await page.getByRole('button', { name: 'Code', exact: true }).click();
    const code = async (language: string) => {
      await page.getByRole('button', { name: language, exact: true }).click();
      return (await page.locator('pre').innerText()).replace('sk-gw-…', apiKey);
    };
    const curl = await run('sh', ['-c', await code('curl')]);
    expect(curl.stdout).toContain('"finish_reason":"stop"');

    // Below the repository, where `openai` is found.
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
