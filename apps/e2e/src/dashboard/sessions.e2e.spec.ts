import { browserTests, type Browser, type Page } from '../testing/chromium';
import { signInAgain, storageOf, takeSession } from '../testing/dashboard-page';
import { eventually } from '../testing/eventually';
import { field } from '../testing/field';
import { PASSWORD, personWith } from '../testing/people';
import { stepClock, withShiftedClock } from '../testing/shifted-clock';
import { signIn } from '@gateway/test-support';
import { startTestEnv, type TestEnv } from '../testing/test-env';

jest.setTimeout(180_000);

const browsers = browserTests();

const HOUR_MS = 3_600_000;
const STEP_MS = 1.5 * HOUR_MS;
const EMAIL = 'at-work@example.com';

/** Long enough not to occur in an id by chance. */
const TYPED = '1904631';

/** With the default session settings: an idle timeout of 2 hours, and a lifetime of 12 hours. */
describe('a session that expires during work', () => {
  let testEnv: TestEnv;
  let browser: Browser;
  let organizationId: string;

  const startOnce = async () => {
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
  /** Signs in again, because the session of the test environment has expired by then. */
  const operator = () => {
    const { dashboardUrl, adminEmail, adminPassword } = testEnv.gateway;
    return signIn(dashboardUrl, adminEmail, adminPassword);
  };
  /** The expiry of a new session, which moves with the gateway's clock. */
  const newSessionExpiry = async () =>
    Date.parse((await (await operator()).call<{ expires_at: string }>('GET', '/api/session')).expires_at);
  const stepOnce = async () => {
    const before = await newSessionExpiry();
    stepClock(testEnv.gateway.pid);
    await eventually(
      'the clock steps',
      async () => ((await newSessionExpiry()) - before >= STEP_MS ? true : undefined),
      // Each check is a sign-in, whose rate is limited.
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

  browsers.it('shows a sign-in dialog after two idle hours, and keeps the input of the page', async () => {
    await startOnce();
    const page = await openAt('/limits');
    await page.getByRole('button', { name: 'Edit' }).click();
    await stepOnce();
    await field(page, 'Requests per minute').fill('77');
    // Half an hour remains. The request restarts the idle timeout.
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('77', { exact: true }).waitFor();

    await page.getByRole('button', { name: 'Edit' }).click();
    await field(page, 'Requests per minute').fill(TYPED);
    await stepOnce();
    await stepOnce();
    await page.getByRole('button', { name: 'Save' }).click();
    await signInAgain(page, PASSWORD);
    // The request of the expired session had no effect and can be repeated.
    await page.getByText('Your session had expired, so nothing was saved. Try again.').waitFor();
    expect(await requestsPerMinute()).toBe(77);
    expect(await field(page, 'Requests per minute').inputValue()).toBe(TYPED);
    const stored = await storageOf(page);
    for (const typed of [TYPED, PASSWORD]) expect(stored).not.toContain(typed);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Limits updated.').waitFor();
    expect(await requestsPerMinute()).toBe(Number(TYPED));
    await page.context().close();
  });

  browsers.it('shows a sign-in dialog after twelve hours, without any action by the person', async () => {
    await startOnce();
    const page = await openAt('/credit?month=2026-01');
    await page.getByRole('heading', { name: 'Credit', level: 1 }).waitFor();
    const live = `/api/organizations/${organizationId}/live`;
    for (let steps = 1; steps * STEP_MS < 12 * HOUR_MS; steps += 1) {
      await stepOnce();
      // The page polls the balance, so its session is never idle.
      const poll = await page.waitForResponse((response) => response.url().endsWith(live));
      expect([steps, poll.status()]).toEqual([steps, 200]);
    }
    await stepOnce();
    await signInAgain(page, PASSWORD);
    expect(page.url()).toBe(`${testEnv.gateway.dashboardUrl}/o/${organizationId}/credit?month=2026-01`);
    // The page polls the balance again.
    const after = await page.waitForResponse((response) => response.url().endsWith(live));
    expect(after.status()).toBe(200);
    await page.context().close();
  });
});
