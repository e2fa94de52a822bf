import { readFileSync } from 'node:fs';
import { findFreePort } from '@gateway/database';
import { seed } from '../../screenshots/seed';
import { browserTests, complaintsOf, type Browser, type Page } from '../testing/chromium';
import { takeSession } from '../testing/dashboard-page';
import { screens, type Screen, type ScreenIds } from '../testing/screens';
import { startTestEnv, type TestEnv } from '../testing/test-env';

jest.setTimeout(180_000);

const browsers = browserTests();
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

/** Faults that keep somebody from using a page; the others are of taste. */
const SERIOUS = new Set(['serious', 'critical']);

/** For the names, before anything is there. */
const NO_IDS: ScreenIds = { organizationId: '', emptyId: '', keyId: '', generationId: '' };

interface Look {
  readonly colorScheme: 'light' | 'dark';
  readonly viewport: { readonly width: number; readonly height: number };
}
const NARROW_AND_DARK: Look = { colorScheme: 'dark', viewport: { width: 375, height: 812 } };
const WIDE_AND_LIGHT: Look = { colorScheme: 'light', viewport: { width: 1_920, height: 1_080 } };

/** What the first page may load until it is of use: its document, style, fonts, script and data. */
const MOST_FIRST_REQUESTS = 20;
const MOST_FIRST_BYTES = 400_000;

interface FirstPage {
  readonly requests: number;
  /** As they travelled. */
  readonly bytes: number;
  /** Since the browser began to go there. */
  readonly ms: number;
}

const FIRST_PAGE = `(() => {
  const loaded = [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')];
  return {
    requests: loaded.length,
    bytes: loaded.reduce((sum, { transferSize }) => sum + transferSize, 0),
    ms: performance.now(),
  };
})()`;

/** From an event to the paint after it, as the browser measures it; it tells of what took 16 ms or more. */
const NOTE_INTERACTIONS = `
  const seen = new Map();
  const note = (entries) => {
    for (const { interactionId, duration } of entries)
      if (interactionId) seen.set(interactionId, Math.max(duration, seen.get(interactionId) ?? 0));
  };
  const observer = new PerformanceObserver((list) => note(list.getEntries()));
  observer.observe({ type: 'event', durationThreshold: 16, buffered: true });
  window.interactions = () => (note(observer.takeRecords()), [...seen.values()]);
`;

interface Finding {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

describe('every page of the dashboard', () => {
  let testEnv: TestEnv;
  let browser: Browser;
  let ids: ScreenIds;

  const begin = async () => {
    if (testEnv) return;
    // The playground calls the public API from the dashboard's origin, which has to be known at the start.
    testEnv = await startTestEnv({ env: { GATEWAY_DASHBOARD_PORT: String(await findFreePort()) } });
    browser = await browsers.launch();
    ids = await seed(testEnv);
  };

  afterAll(async () => {
    await browser?.close();
    await testEnv?.stop();
  });

  interface Visit {
    readonly page: Page;
    readonly complaints: string[];
  }
  const visits = new Map<boolean, Visit>();

  /** One browser's page for all pages: a new one takes the browser as long as everything else. */
  async function visitOf(signedOut: boolean): Promise<Visit> {
    const known = visits.get(signedOut);
    if (known) return known;
    const { dashboardUrl, adminEmail, adminPassword } = testEnv.gateway;
    const context = await browser.newContext(WIDE_AND_LIGHT);
    if (!signedOut) await takeSession(context, dashboardUrl, adminEmail, adminPassword);
    const page = await context.newPage();
    const visit = { page, complaints: complaintsOf(page) };
    visits.set(signedOut, visit);
    return visit;
  }

  async function faultsWideAndLight(page: Page): Promise<string[]> {
    const title = await page.title();
    return [
      ...(await faultsOfHeading(page)),
      ...(/^.+ · Inference Gateway$/.test(title) ? [] : [`the title is ${title}`]),
      ...(await seriousFindings(page)),
    ];
  }

  async function faultsNarrowAndDark(page: Page): Promise<string[]> {
    await changeLook(page, NARROW_AND_DARK);
    const width = await page.evaluate<number>('document.documentElement.scrollWidth');
    return [
      ...(width > NARROW_AND_DARK.viewport.width ? [`it is ${width} px wide on a phone`] : []),
      ...(await seriousFindings(page)).map((finding) => `in dark on a phone: ${finding}`),
    ];
  }

  async function setLook(page: Page, { colorScheme, viewport }: Look): Promise<void> {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize(viewport);
  }

  async function changeLook(page: Page, { colorScheme, viewport }: Look): Promise<void> {
    await setLook(page, { colorScheme, viewport });
    await page.locator(`html[data-theme=${colorScheme}]`).waitFor({ state: 'attached' });
    await standStill(page);
  }

  /** Halfway between two themes nothing has contrast, and a dialog that only begins to show is none yet. */
  async function standStill(page: Page): Promise<void> {
    await page.evaluate(
      `Promise.all(document.getAnimations()
        .filter(({ effect }) => effect.getComputedTiming().endTime < Infinity)
        .map(({ finished }) => finished.catch(() => undefined)))`,
    );
  }

  async function seriousFindings(page: Page): Promise<string[]> {
    // By the debugger's way, which the policy of the page does not concern.
    await page.evaluate(axe);
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

  /** What is read out first: the page's own heading, or the name of the dialog that hides it. */
  async function faultsOfHeading(page: Page): Promise<string[]> {
    if ((await page.getByRole('dialog').count()) > 0) {
      const named = await page.getByRole('dialog', { name: /\S/ }).count();
      return named === 1 ? [] : [`${named} dialogs with a name`];
    }
    const headings = await page.getByRole('heading', { level: 1 }).count();
    return headings === 1 ? [] : [`${headings} headings of the first level`];
  }

  describe.each(screens(NO_IDS).map(({ name }) => name))('%s', (name) => {
    browsers.it(
      'is named, fits on a phone, breaks no policy, and has no serious finding of axe in either theme',
      async () => {
        await begin();
        const screen = screens(ids).find((one) => one.name === name) as Screen;
        const { page, complaints } = await visitOf(screen.signedOut ?? false);
        complaints.length = 0;
        await page.unrouteAll();
        await setLook(page, WIDE_AND_LIGHT);
        await page.goto(testEnv.gateway.dashboardUrl + screen.path);
        await page.getByRole('heading', { level: 1 }).waitFor();
        await screen.prepare?.(page);
        await page.getByText('Loading', { exact: true }).first().waitFor({ state: 'detached' });
        await standStill(page);
        expect(await faultsWideAndLight(page)).toEqual([]);
        expect(await faultsNarrowAndDark(page)).toEqual([]);
        expect(complaints).toEqual([]);
      },
    );
  });

  browsers.it(
    'loads little before it is of use, and says how fast it was and how fast it reacts',
    async () => {
      await begin();
      const { dashboardUrl, adminEmail, adminPassword } = testEnv.gateway;
      const context = await browser.newContext(WIDE_AND_LIGHT);
      await takeSession(context, dashboardUrl, adminEmail, adminPassword);
      await context.addInitScript(NOTE_INTERACTIONS);
      const page = await context.newPage();
      await page.goto(`${dashboardUrl}/o/${ids.organizationId}/keys`);
      await page.getByRole('link', { name: 'production' }).waitFor();
      const first = await page.evaluate<FirstPage>(FIRST_PAGE);
      // Each of them is a way to the server and back.
      expect(first.requests).toBeLessThanOrEqual(MOST_FIRST_REQUESTS);
      expect(first.bytes).toBeLessThanOrEqual(MOST_FIRST_BYTES);

      for (const name of ['Usage', 'Generations', 'Credit', 'Limits', 'Members', 'Models', 'Keys']) {
        await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name, exact: true }).click();
        await page.getByRole('heading', { level: 1, name }).waitFor();
      }
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox').pressSequentially('production');
      await page.keyboard.press('Enter');
      await page.getByRole('button', { name: 'Edit' }).click();
      await page.getByLabel('Name').pressSequentially(' of Monday');
      await page.getByRole('button', { name: 'Cancel' }).click();
      const interactions = await page.evaluate<number[]>('window.interactions()');
      // Clicks and keys, of which those that took less than the browser tells of are not in the list.
      const slowest = Math.max(0, ...interactions);
      process.stderr.write(
        `The first page: ${first.requests} requests, ${first.bytes} bytes, of use after ${Math.round(first.ms)} ms. ` +
          `Until the next paint after a click or a key: at most ${slowest} ms, ` +
          `${interactions.filter((ms) => ms > 100).length} of ${interactions.length} above 100 ms.\n`,
      );
      await context.close();
    },
  );
});
