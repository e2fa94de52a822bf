import {
  browserTests,
  collectPageErrors,
  type Browser,
  type BrowserContext,
  type Page,
} from '../testing/chromium';
import { takeSession } from '../testing/dashboard-page';
import { eventually } from '../testing/eventually';
import { field } from '../testing/field';
import { joinTestEnv, type SharedTestEnv } from '../testing/test-env';

jest.setTimeout(180_000);

const browsers = browserTests();
const PHONE = { width: 375, height: 812 };
const DESKTOP = { width: 1_440, height: 900 };

describe('charts, figures and long lists of the dashboard, in a real browser', () => {
  let testEnv: SharedTestEnv;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let organizationId: string;

  const startOnce = async () => {
    if (testEnv) return;
    testEnv = await joinTestEnv();
    browser = await browsers.launch();
    context = await browser.newContext({ viewport: DESKTOP });
    const { dashboardUrl, adminEmail, adminPassword } = testEnv.gateway;
    await takeSession(context, dashboardUrl, adminEmail, adminPassword);
    const tenant = await testEnv.tenant({ credit: '5' });
    ({ organizationId } = tenant);
    for (const model of ['demo/small', 'demo/standard']) {
      await testEnv.client(tenant.apiKey).chat.completions.create({
        model,
        max_tokens: 20,
        messages: [{ role: 'user', content: 'Hello!' }],
      });
    }
    page = await context.newPage();
  };
  afterEach(() => page?.unrouteAll({ behavior: 'ignoreErrors' }));
  afterAll(async () => {
    await browser?.close();
    await testEnv?.stop();
  });
  const open = (path: string) => page.goto(`${testEnv.gateway.dashboardUrl}/o/${organizationId}${path}`);

  browsers.it('keeps the overview when the chart’s file is missing, and loads the chart later', async () => {
    await startOnce();
    const pageErrors = collectPageErrors(page);
    await page.route('**/assets/usage-chart-*.js', (route) => route.fulfill({ status: 404, body: '' }));
    await open('');
    await page.getByText('Couldn’t load the chart').waitFor();
    await page.getByRole('table', { name: 'Latest generations' }).getByRole('link').first().waitFor();
    await page.getByText('Available', { exact: true }).waitFor();
    await page.unrouteAll();
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('figure', { name: 'Spend over time' }).waitFor();
    expect(pageErrors).toEqual([]);
  });

  browsers.it('gives a model the same color in every chart, and splits latency by model', async () => {
    await startOnce();
    const colors = async () => {
      await page.locator('figcaption > span').nth(1).waitFor();
      const entries = await page.evaluate<readonly [string, string][]>(
        `[...document.querySelectorAll('figcaption > span')]
          .map((entry) => [entry.textContent, entry.querySelector('rect').getAttribute('fill')])`,
      );
      return Object.fromEntries(entries);
    };
    await open('');
    const onOverview = await colors();
    await page.getByText('Lighter bar: the current day (UTC) until now').waitFor();
    expect(Object.keys(onOverview).sort()).toEqual(['demo/small', 'demo/standard']);
    expect(new Set(Object.values(onOverview)).size).toBe(2);
    for (const measure of ['requests', 'p50', 'p95']) {
      await open(`/usage?measure=${measure}`);
      expect(await colors()).toEqual(onOverview);
    }
  });

  browsers.it(
    'marks live figures while the API does not respond, and recovers without a reload',
    async () => {
      await startOnce();
      await open('');
      await page.getByText('Available', { exact: true }).waitFor();
      expect(await page.getByText('These figures are out of date').count()).toBe(0);
      await page.route('**/live', (route) => route.abort());
      await page.getByText('These figures are out of date').waitFor();
      await page.getByText('Available', { exact: true }).waitFor();
      await page.unrouteAll();
      await page.getByText('These figures are out of date').waitFor({ state: 'detached' });
    },
  );

  browsers.it('loads generations once the API is available again, without a click', async () => {
    await startOnce();
    await page.route('**/generations?*', (route) => route.abort());
    await open('/generations');
    await page.getByText('Couldn’t load generations').waitFor();
    await page.unrouteAll();
    await page.getByRole('table', { name: 'Generations' }).getByRole('link').first().waitFor();
  });

  browsers.it(
    'keeps few elements in the document after “Load more” twenty times, and shows every row',
    async () => {
      await startOnce();
      const { data } = (await (
        await context.request.get(
          `${testEnv.gateway.dashboardUrl}/api/organizations/${organizationId}/generations?page_size=1`,
        )
      ).json()) as { data: [object] };
      const PAGES = 21;
      const ROWS = 50;
      await page.route('**/generations?*', (route) => {
        const number = Number(new URL(route.request().url()).searchParams.get('page_token') ?? 0);
        return route.fulfill({
          json: {
            data: Array.from({ length: ROWS }, (_, row) => ({
              ...{ ...data[0], id: `gen-${String(number * ROWS + row).padStart(4, '0')}` },
            })),
            next_page_token: number + 1 < PAGES ? String(number + 1) : null,
            searched_until: null,
          },
        });
      });
      await open('/generations');
      const table = page.getByRole('table', { name: 'Generations' });
      const more = page.getByRole('button', { name: 'Load more' });
      for (let loaded = 1; loaded < PAGES; loaded += 1) {
        await more.click();
        await eventually('the next rows are loaded', async () =>
          Number(await table.getAttribute('aria-rowcount')) === (loaded + 1) * ROWS + 1 ? true : undefined,
        );
      }
      const elements = () => page.evaluate<number>('document.querySelectorAll("*").length');
      expect(await elements()).toBeLessThan(5_000);
      const scrollTo = (place: string) => page.evaluate(`window.scrollTo(0, ${place})`);
      await scrollTo('document.documentElement.scrollHeight');
      await page.getByText('gen-1049').waitFor();
      await scrollTo('0');
      await page.getByText('gen-0000').waitFor();
      await scrollTo('document.documentElement.scrollHeight / 2');
      await eventually('rows in the middle fill the window', async () => {
        const rows = await page.evaluate<number[]>(
          `[...document.querySelectorAll('tr[aria-rowindex]')]
          .filter((row) => row.getBoundingClientRect().bottom > 0 && row.getBoundingClientRect().top < innerHeight)
          .map((row) => Number(row.getAttribute('aria-rowindex')))`,
        );
        return rows.length > 5 && rows.every((row) => row > 400 && row < 650) ? true : undefined;
      });
      expect(await elements()).toBeLessThan(5_000);
    },
  );

  browsers.it('collapses filters on a phone behind a button that counts those in use', async () => {
    await startOnce();
    await page.setViewportSize(PHONE);
    await open('/generations?model=demo/small');
    await page.getByRole('button', { name: 'Filters (1)' }).waitFor();
    expect(await field(page, 'Status').isVisible()).toBe(false);
    expect(await field(page, 'Search by ID').isVisible()).toBe(true);
    await page.getByRole('button', { name: 'Filters (1)' }).click();
    await field(page, 'Status').waitFor();
    await page.setViewportSize(DESKTOP);
    await open('/generations');
    await field(page, 'Status').waitFor();
    expect(await page.getByRole('button', { name: /^Filters/ }).isVisible()).toBe(false);
  });
});
