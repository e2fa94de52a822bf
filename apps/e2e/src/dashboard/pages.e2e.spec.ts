import { readFileSync } from 'node:fs';
import { findFreePort } from '@gateway/database';
import { seed } from '../../screenshots/seed';
import { browserTests, collectPageErrors, type Browser, type Page } from '../testing/chromium';
import { screenOpener, takeSession } from '../testing/dashboard-page';
import { field } from '../testing/field';
import { screens, type Screen, type ScreenIds } from '../testing/screens';
import { startTestEnv, type TestEnv } from '../testing/test-env';

jest.setTimeout(180_000);

const browsers = browserTests();
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

/** Impacts that prevent the use of a page; axe's other findings are best practices. */
const SERIOUS = new Set(['serious', 'critical']);

/** To list the names of screens before the test data exists. */
const NO_IDS: ScreenIds = { organizationId: '', emptyId: '', keyId: '', projectId: '', generationId: '' };

interface Appearance {
  readonly colorScheme: 'light' | 'dark';
  readonly viewport: { readonly width: number; readonly height: number };
}
const NARROW_AND_DARK: Appearance = { colorScheme: 'dark', viewport: { width: 375, height: 812 } };
const WIDE_AND_LIGHT: Appearance = { colorScheme: 'light', viewport: { width: 1_920, height: 1_080 } };

/** What the first page may load until it is usable: its document, styles, fonts, scripts and data. */
const MAX_FIRST_REQUESTS = 20;
const MAX_FIRST_BYTES = 400_000;

interface PageLoad {
  readonly requests: number;
  /** Transferred, compressed. */
  readonly bytes: number;
  /** Since the start of the navigation. */
  readonly ms: number;
}

const MEASURE_PAGE_LOAD = `(() => {
  const loaded = [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')];
  return {
    requests: loaded.length,
    bytes: loaded.reduce((sum, { transferSize }) => sum + transferSize, 0),
    ms: performance.now(),
  };
})()`;

/** Durations from an event to its next paint, as measured by the browser, which reports those of 16 ms or more. */
const RECORD_INTERACTIONS = `
  const durations = new Map();
  const record = (entries) => {
    for (const { interactionId, duration } of entries)
      if (interactionId) durations.set(interactionId, Math.max(duration, durations.get(interactionId) ?? 0));
  };
  const observer = new PerformanceObserver((list) => record(list.getEntries()));
  observer.observe({ type: 'event', durationThreshold: 16, buffered: true });
  window.interactions = () => (record(observer.takeRecords()), [...durations.values()]);
`;

const LAPTOPS = [
  { width: 1_024, height: 768 },
  { width: 1_200, height: 800 },
  { width: 1_366, height: 768 },
  { width: 1_440, height: 900 },
];

/** Tables that scroll sideways, broken words in their headings, and an invisible entry of the navigation. */
const FIND_HIDDEN_PARTS = `(() => {
  const problems = [];
  for (const region of document.querySelectorAll('[role=region]:has(> table)')) {
    const hidden = region.scrollWidth - region.clientWidth;
    if (hidden > 0) problems.push('the table ' + region.ariaLabel + ' hides ' + hidden + ' px');
    for (const cell of region.querySelectorAll('td, th')) {
      const width = cell.getBoundingClientRect().width;
      if (width > 0 && width < 40 && cell.textContent.trim().length > 6)
        problems.push('a column of ' + region.ariaLabel + ' is ' + width + ' px wide: ' + cell.textContent.trim());
    }
  }
  const navigation = document.querySelector('aside nav');
  const active = navigation?.querySelector('[data-status=active]');
  if (active) {
    const [inner, outer] = [active.getBoundingClientRect(), navigation.getBoundingClientRect()];
    if (inner.bottom > outer.bottom + 1 || inner.top < outer.top - 1) problems.push('the current page is not in view');
  }
  return problems;
})()`;

/** The page scrolls to the entry of the navigation in the event of the new size, which is a frame later. */
const NEXT_FRAME = 'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))';

interface Finding {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

describe('every page of the dashboard', () => {
  let testEnv: TestEnv;
  let browser: Browser;
  let ids: ScreenIds;

  const startOnce = async () => {
    if (testEnv) return;
    // The playground calls the public API from the dashboard's origin, which CORS needs to know at startup.
    const env = { GATEWAY_DASHBOARD_PORT: String(await findFreePort()), GATEWAY_CATALOGUE: 'database' };
    testEnv = await startTestEnv({ env });
    browser = await browsers.launch();
    ids = await seed(testEnv);
  };

  afterAll(async () => {
    await browser?.close();
    await testEnv?.stop();
  });

  interface Visit {
    readonly page: Page;
    readonly pageErrors: string[];
    readonly open: (screen: Screen) => Promise<void>;
  }
  const visits = new Map<boolean, Visit>();

  /** All tests share a browser tab, because opening one takes as long as the rest of a test. */
  async function visitOf(signedOut: boolean): Promise<Visit> {
    const existing = visits.get(signedOut);
    if (existing) return existing;
    const { dashboardUrl, adminEmail, adminPassword } = testEnv.gateway;
    const context = await browser.newContext(WIDE_AND_LIGHT);
    if (!signedOut) await takeSession(context, dashboardUrl, adminEmail, adminPassword);
    const page = await context.newPage();
    const visit = { page, pageErrors: collectPageErrors(page), open: screenOpener(page, dashboardUrl) };
    visits.set(signedOut, visit);
    return visit;
  }

  async function problemsWideAndLight(page: Page): Promise<string[]> {
    const title = await page.title();
    return [
      ...(await problemsOfHeading(page)),
      ...(/^.+ · Inference Gateway$/.test(title) ? [] : [`the title is ${title}`]),
      ...(await seriousFindings(page)),
    ];
  }

  async function problemsNarrowAndDark(page: Page): Promise<string[]> {
    await changeAppearance(page, NARROW_AND_DARK);
    const width = await page.evaluate<number>('document.documentElement.scrollWidth');
    return [
      ...(width > NARROW_AND_DARK.viewport.width ? [`the page is ${width} px wide on a phone`] : []),
      ...(await seriousFindings(page)).map((finding) => `dark, on a phone: ${finding}`),
    ];
  }

  /** Small laptops: every column is visible, and the navigation shows the current page. */
  async function problemsOnLaptops(page: Page): Promise<string[]> {
    const problems: string[] = [];
    for (const viewport of LAPTOPS) {
      await page.setViewportSize(viewport);
      await page.evaluate(NEXT_FRAME);
      const found = await page.evaluate<string[]>(FIND_HIDDEN_PARTS);
      problems.push(...found.map((one) => `${viewport.width} x ${viewport.height}: ${one}`));
    }
    return problems;
  }

  async function setAppearance(page: Page, { colorScheme, viewport }: Appearance): Promise<void> {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize(viewport);
  }

  async function changeAppearance(page: Page, { colorScheme, viewport }: Appearance): Promise<void> {
    await setAppearance(page, { colorScheme, viewport });
    await page.locator(`html[data-theme=${colorScheme}]`).waitFor({ state: 'attached' });
    await finishAnimations(page);
  }

  /** During a theme change or a dialog's entry animation, axe would report false contrast problems. */
  async function finishAnimations(page: Page): Promise<void> {
    await page.evaluate(
      `Promise.all(document.getAnimations()
        .filter(({ effect }) => effect.getComputedTiming().endTime < Infinity)
        .map(({ finished }) => finished.catch(() => undefined)))`,
    );
  }

  async function seriousFindings(page: Page): Promise<string[]> {
    // Injected through the debugger, so that the page's content security policy does not apply.
    if (!(await page.evaluate<boolean>(`'axe' in window`))) await page.evaluate(axe);
    const findings = await page.evaluate<Finding[]>(
      `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations)`,
    );
    return findings
      .filter(({ impact }) => SERIOUS.has(impact))
      .map(
        ({ id, nodes }) =>
          `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join(' | ')}`,
      );
  }

  /** What a screen reader reads first: the page's heading, or the name of the open dialog. */
  async function problemsOfHeading(page: Page): Promise<string[]> {
    if ((await page.getByRole('dialog').count()) > 0) {
      const named = await page.getByRole('dialog', { name: /\S/ }).count();
      return named === 1 ? [] : [`${named} dialogs with a name`];
    }
    const headings = await page.getByRole('heading', { level: 1 }).count();
    return headings === 1 ? [] : [`${headings} level 1 headings`];
  }

  describe.each(screens(NO_IDS).map(({ name }) => name))('%s', (name) => {
    browsers.it(
      'has a title, fits on a phone, violates no policy, and has no serious axe finding in either theme',
      async () => {
        await startOnce();
        const screen = screens(ids).find((one) => one.name === name) as Screen;
        const { page, pageErrors, open } = await visitOf(screen.signedOut ?? false);
        pageErrors.length = 0;
        await setAppearance(page, WIDE_AND_LIGHT);
        await open(screen);
        await finishAnimations(page);
        expect(await problemsWideAndLight(page)).toEqual([]);
        expect(await problemsOnLaptops(page)).toEqual([]);
        expect(await problemsNarrowAndDark(page)).toEqual([]);
        expect(pageErrors).toEqual([]);
      },
    );
  });

  browsers.it('shows every price of a model in a window of 1280 pixels', async () => {
    await startOnce();
    const { page, open } = await visitOf(false);
    await setAppearance(page, { colorScheme: 'light', viewport: { width: 1_280, height: 800 } });
    await open(screens(ids).find(({ name }) => name === 'operator-catalogue-models') as Screen);
    const hiddenPixels = await page
      .getByRole('region', { name: 'Models' })
      .evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth);
    expect(hiddenPixels).toBe(0);
  });

  browsers.it(
    'loads little before it is usable, and reports its load time and interaction latency',
    async () => {
      await startOnce();
      const { dashboardUrl, adminEmail, adminPassword } = testEnv.gateway;
      const context = await browser.newContext(WIDE_AND_LIGHT);
      await takeSession(context, dashboardUrl, adminEmail, adminPassword);
      await context.addInitScript(RECORD_INTERACTIONS);
      const page = await context.newPage();
      await page.goto(`${dashboardUrl}/o/${ids.organizationId}/keys`);
      await page.getByRole('link', { name: 'production' }).waitFor();
      const first = await page.evaluate<PageLoad>(MEASURE_PAGE_LOAD);
      // Each request costs a round trip.
      expect(first.requests).toBeLessThanOrEqual(MAX_FIRST_REQUESTS);
      expect(first.bytes).toBeLessThanOrEqual(MAX_FIRST_BYTES);

      for (const name of ['Usage', 'Generations', 'Credit', 'Limits', 'Members', 'Catalogue', 'Keys']) {
        await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name, exact: true }).click();
        await page.getByRole('heading', { level: 1, name }).waitFor();
      }
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox').pressSequentially('production');
      // Not the command that searches generations for the text, which is the only match until keys are found.
      await page.getByRole('option', { name: /^production/, selected: true }).waitFor();
      await page.keyboard.press('Enter');
      await page.getByRole('button', { name: 'Edit' }).click();
      await field(page, 'Name').pressSequentially(' of Monday');
      await page.getByRole('button', { name: 'Cancel' }).click();
      const interactions = await page.evaluate<number[]>('window.interactions()');
      // Clicks and key presses, without those faster than the browser reports.
      const slowest = Math.max(0, ...interactions);
      process.stderr.write(
        `First page: ${first.requests} requests, ${first.bytes} bytes, usable after ${Math.round(first.ms)} ms. ` +
          `Interaction to next paint: at most ${slowest} ms, ` +
          `${interactions.filter((ms) => ms > 100).length} of ${interactions.length} above 100 ms.\n`,
      );
      await context.close();
    },
  );
});
