import { browserTests, type Browser, type Page } from '../testing/chromium';
import { signInAgain, storageOf, takeSession } from '../testing/dashboard-page';
import { eventually } from '../testing/eventually';
import { PASSWORD, personWith } from '../testing/people';
import { jump, withShiftedClock } from '../testing/shifted-clock';
import { signIn } from '@gateway/test-support';
import { startTestEnv, type TestEnv } from '../testing/test-env';

jest.setTimeout(180_000);

const browsers = browserTests();

const HOUR_MS = 3_600_000;
const STEP_MS = 1.5 * HOUR_MS;
const EMAIL = 'at-work@example.com';

/** Long enough to be in no id by chance. */
const TYPED = '1904631';

/** With the times that are set unless somebody sets others: 2 hours without a request, 12 hours in all. */
describe('a session that ends while somebody works', () => {
  let testEnv: TestEnv;
  let browser: Browser;
  let organizationId: string;

  const begin = async () => {
    if (testEnv) return;
    testEnv = await startTestEnv({ env: withShiftedClock({ stepMs: STEP_MS }) });
    browser = await browsers.launch();
    ({ organizationId } = await testEnv.tenant());
    await personWith(testEnv.admin, testEnv.gateway.dashboardUrl, {
      organizationId,
      email: EMAIL,
      role: 'owner',
    });
  };
  afterAll(async () => {
    await browser?.close();
    await testEnv?.stop();
  });

  const openAt = async (path: string): Promise<Page> => {
    const context = await browser.newContext();
    await takeSession(context, testEnv.gateway.dashboardUrl, EMAIL, PASSWORD);
    const page = await context.newPage();
    await page.goto(`${testEnv.gateway.dashboardUrl}/o/${organizationId}${path}`);
    return page;
  };
  /** In a session of now: the session of the environment ended long ago. */
  const operator = () => {
    const { dashboardUrl, adminEmail, adminPassword } = testEnv.gateway;
    return signIn(dashboardUrl, adminEmail, adminPassword);
  };
  /** The time as the gateway sees it, by when a session that is begun now would end. */
  const gatewayTime = async () =>
    Date.parse((await (await operator()).call<{ expires_at: string }>('GET', '/api/session')).expires_at);
  const jumpOnce = async () => {
    const before = await gatewayTime();
    jump(testEnv.gateway.pid);
    await eventually(
      'the clock to jump',
      async () => ((await gatewayTime()) - before >= STEP_MS ? true : undefined),
      // Each question is a sign-in, of which there are so many in a quarter of an hour.
      { pollMs: 250 },
    );
  };
  const requestsPerMinute = async () => {
    const { organization } = await (
      await operator()
    ).call<{ organization: { limits: { requests_per_minute: number } } }>(
      'GET',
      `/api/organizations/${organizationId}`,
    );
    return organization.limits.requests_per_minute;
  };

  browsers.it('asks to sign in after two idle hours, over the page, and loses nothing of it', async () => {
    await begin();
    const page = await openAt('/limits');
    await page.getByRole('button', { name: 'Edit' }).click();
    await jumpOnce();
    await page.getByLabel('Requests per minute').fill('77');
    // Half an hour is left; a request begins the two hours anew.
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('77', { exact: true }).waitFor();

    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByLabel('Requests per minute').fill(TYPED);
    await jumpOnce();
    await jumpOnce();
    await page.getByRole('button', { name: 'Save' }).click();
    await signInAgain(page, PASSWORD);
    // What the ended session asked for was not done, and can be asked for again.
    await page.getByText('Your session had expired, so nothing was saved. Try again.').waitFor();
    expect(await requestsPerMinute()).toBe(77);
    expect(await page.getByLabel('Requests per minute').inputValue()).toBe(TYPED);
    const stored = await storageOf(page);
    for (const typed of [TYPED, PASSWORD]) expect(stored).not.toContain(typed);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Limits updated.').waitFor();
    expect(await requestsPerMinute()).toBe(Number(TYPED));
    await page.context().close();
  });

  browsers.it('asks to sign in after twelve hours of work, without being asked anything', async () => {
    await begin();
    const page = await openAt('/credit?month=2026-01');
    await page.getByRole('heading', { name: 'Credit', level: 1 }).waitFor();
    const live = `/api/organizations/${organizationId}/live`;
    for (let jumps = 1; jumps * STEP_MS < 12 * HOUR_MS; jumps += 1) {
      await jumpOnce();
      // The page follows the balance, so its session is never idle.
      const answer = await page.waitForResponse((response) => response.url().endsWith(live));
      expect([jumps, answer.status()]).toEqual([jumps, 200]);
    }
    await jumpOnce();
    await signInAgain(page, PASSWORD);
    expect(page.url()).toBe(`${testEnv.gateway.dashboardUrl}/o/${organizationId}/credit?month=2026-01`);
    // It follows the balance again.
    const after = await page.waitForResponse((response) => response.url().endsWith(live));
    expect(after.status()).toBe(200);
    await page.context().close();
  });
});
