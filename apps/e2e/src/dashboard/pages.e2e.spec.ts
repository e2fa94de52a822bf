import { readFileSync } from 'node:fs';
import { seed } from '../../screenshots/seed';
import { browserTests, complaintsOf, type Browser, type Page } from '../support/chromium';
import { takeSession } from '../support/dashboard-page';
import { freePort } from '../support/free-port';
import { screens, type ScreenIds } from '../support/screens';
import { startWorld, type World } from '../support/world';

jest.setTimeout(300_000);

const browsers = browserTests();
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

/** Faults that keep somebody from using a page; the others are of taste. */
const SERIOUS = new Set(['serious', 'critical']);
const NARROWEST = { width: 375, height: 812 };
const WIDEST = { width: 1_920, height: 1_080 };

interface Finding {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

describe('every page of the dashboard', () => {
  let world: World;
  let browser: Browser;
  let ids: ScreenIds;

  const begin = async () => {
    if (world) return;
    // The playground calls the public API from the dashboard's origin, which has to be known at the start.
    world = await startWorld({ env: { GATEWAY_DASHBOARD_PORT: String(await freePort()) } });
    browser = await browsers.launch();
    ids = await seed(world);
  };

  afterAll(async () => {
    await browser?.close();
    await world?.stop();
  });

  /** Visits every page and gives back what is wrong with each. */
  async function faultsOfPages(
    options: { readonly colorScheme: 'light' | 'dark'; readonly viewport: typeof WIDEST },
    faultsOf: (page: Page) => Promise<readonly string[]>,
  ): Promise<Record<string, readonly string[]>> {
    const found: Record<string, readonly string[]> = {};
    const { dashboardUrl, adminEmail, adminPassword } = world.gateway;
    const visitor = await browser.newContext(options);
    const operator = await browser.newContext(options);
    await takeSession(operator, dashboardUrl, adminEmail, adminPassword);
    for (const screen of screens(ids)) {
      const page = await (screen.signedOut ? visitor : operator).newPage();
      const complaints = complaintsOf(page);
      await page.goto(dashboardUrl + screen.path);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await screen.prepare?.(page);
      await page.getByText('Loading', { exact: true }).first().waitFor({ state: 'detached' });
      const faults = [...(await faultsOf(page)), ...(await seriousFindings(page)), ...complaints];
      if (faults.length > 0) found[screen.name] = faults;
      await page.close();
    }
    await visitor.close();
    await operator.close();
    return found;
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

  browsers.it('has no serious finding of axe in light, breaks no policy, and is named', async () => {
    await begin();
    const faults = await faultsOfPages({ colorScheme: 'light', viewport: WIDEST }, async (page) => {
      const title = await page.title();
      return [
        ...(await faultsOfHeading(page)),
        ...(/^.+ · Inference Gateway$/.test(title) ? [] : [`the title is ${title}`]),
      ];
    });
    expect(faults).toEqual({});
  });

  browsers.it('has none in dark on a phone, and nothing that is wider than its window', async () => {
    await begin();
    const faults = await faultsOfPages({ colorScheme: 'dark', viewport: NARROWEST }, async (page) => {
      const width = await page.evaluate<number>('document.documentElement.scrollWidth');
      return width > NARROWEST.width ? [`it is ${width} px wide`] : [];
    });
    expect(faults).toEqual({});
  });
});
