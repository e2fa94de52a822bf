import { browserTests, type Browser, type Page } from '../support/chromium';
import { takeSession } from '../support/dashboard-page';
import { eventually } from '../support/eventually';
import { PASSWORD, personWith } from '../support/people';
import { jump, withShiftedClock } from '../support/shifted-clock';
import { signIn } from '../support/admin-client';
import { startWorld, type World } from '../support/world';

jest.setTimeout(180_000);

const browsers = browserTests();

const HOUR_MS = 3_600_000;
const STEP_MS = 1.5 * HOUR_MS;
const EMAIL = 'at-work@example.com';

/** With the times that are set unless somebody sets others: 2 hours without a request, 12 hours in all. */
describe('a session that ends while somebody works', () => {
  let world: World;
  let browser: Browser;
  let organizationId: string;

  const begin = async () => {
    if (world) return;
    world = await startWorld({ env: withShiftedClock({ stepMs: STEP_MS }) });
    browser = await browsers.launch();
    ({ organizationId } = await world.tenant());
    await personWith(world.admin, world.gateway.dashboardUrl, {
      organizationId,
      email: EMAIL,
      role: 'owner',
    });
  };
  afterAll(async () => {
    await browser?.close();
    await world?.stop();
  });

  const openAt = async (path: string): Promise<Page> => {
    const context = await browser.newContext();
    await takeSession(context, world.gateway.dashboardUrl, EMAIL, PASSWORD);
    const page = await context.newPage();
    await page.goto(`${world.gateway.dashboardUrl}/o/${organizationId}${path}`);
    return page;
  };
  /** The time as the gateway sees it, by when a session that is begun now would end. */
  const gatewayTime = async () => {
    const { dashboardUrl, adminEmail, adminPassword } = world.gateway;
    const admin = await signIn(dashboardUrl, adminEmail, adminPassword);
    return Date.parse((await admin.call<{ expires_at: string }>('GET', '/api/session')).expires_at);
  };
  const jumpOnce = async () => {
    const before = await gatewayTime();
    jump(world.gateway.pid);
    await eventually(
      'the clock to jump',
      async () => ((await gatewayTime()) - before >= STEP_MS ? true : undefined),
      // Each question is a sign-in, of which there are so many in a quarter of an hour.
      { pollMs: 250 },
    );
  };
  const signInAgain = async (page: Page) => {
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page.getByLabel('Email').fill(EMAIL);
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  };

  browsers.it('asks to sign in after two idle hours, and leads back to the page', async () => {
    await begin();
    const page = await openAt('/limits');
    await page.getByRole('button', { name: 'Change' }).click();
    await jumpOnce();
    await page.getByLabel('Requests per minute').fill('77');
    // Half an hour is left; a request begins the two hours anew.
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('77').waitFor();

    await page.getByRole('button', { name: 'Change' }).click();
    await page.getByLabel('Requests per minute').fill('99');
    await jumpOnce();
    await jumpOnce();
    await page.getByRole('button', { name: 'Save' }).click();
    await signInAgain(page);
    await page.waitForURL(`${world.gateway.dashboardUrl}/o/${organizationId}/limits`);
    // What the ended session asked for was not done.
    await page.getByText('77').waitFor();
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
    await signInAgain(page);
    await page.waitForURL(`${world.gateway.dashboardUrl}/o/${organizationId}/credit?month=2026-01`);
    await page.getByRole('heading', { name: 'Credit', level: 1 }).waitFor();
    await page.context().close();
  });
});
