import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { findFreePort } from '@gateway/database';
import { launchChromium } from '../src/testing/chromium';
import { takeSession } from '../src/testing/dashboard-page';
import { screens } from '../src/testing/screens';
import { withShiftedClock } from '../src/testing/shifted-clock';
import { startTestEnv } from '../src/testing/test-env';
import { seed, useKeys, type Seeded } from './seed';

/** Takes a screenshot of every page: light, dark, on a wide screen and on a phone. */

const FOLDER = path.resolve('dist/screenshots/images');
const VARIANTS = [
  { name: 'light', colorScheme: 'light', viewport: { width: 1440, height: 900 } },
  { name: 'dark', colorScheme: 'dark', viewport: { width: 1440, height: 900 } },
  { name: 'wide', colorScheme: 'light', viewport: { width: 1920, height: 1080 } },
  { name: 'phone', colorScheme: 'light', viewport: { width: 375, height: 812 } },
] as const;
/** Time for requests that a page sends after its first render, and for charts. */
const RENDER_MS = 700;
const DAY_MS = 86_400_000;
/** Past days with requests, and how many. */
const HISTORY = [
  { daysAgo: 9, requests: 24 },
  { daysAgo: 5, requests: 31 },
  { daysAgo: 3, requests: 14 },
  { daysAgo: 1, requests: 27 },
] as const;

async function main(only: string | undefined): Promise<void> {
  if (!only) rmSync(FOLDER, { recursive: true, force: true });
  const { testEnv, seeded } = await startTestEnvWithHistory();
  const browser = await launchChromium();
  try {
    const { dashboardUrl, adminEmail, adminPassword } = testEnv.gateway;
    for (const { name: variant, ...options } of VARIANTS) {
      mkdirSync(path.join(FOLDER, variant), { recursive: true });
      const visitor = await browser.newContext(options);
      const operator = await browser.newContext(options);
      await takeSession(operator, dashboardUrl, adminEmail, adminPassword);
      const [signedOut, signedIn] = [await visitor.newPage(), await operator.newPage()];
      for (const screen of screens(seeded).filter(({ name }) => !only || name.includes(only))) {
        const page = screen.signedOut ? signedOut : signedIn;
        await page.goto(dashboardUrl + screen.path);
        await page.getByRole('heading', { level: 1 }).waitFor();
        await screen.prepare?.(page);
        await page.waitForTimeout(RENDER_MS);
        // A dialog is positioned in the window, not on the page.
        const fullPage = !(await page.getByRole('dialog').first().isVisible());
        await page.screenshot({ path: path.join(FOLDER, variant, `${screen.name}.png`), fullPage });
        // No page may see state that another one stored in the browser.
        await page.evaluate('localStorage.clear()');
        await page.unrouteAll();
      }
      await visitor.close();
      await operator.close();
    }
  } finally {
    await browser.close();
    await testEnv.stop();
  }
  process.stdout.write(`The screenshots are in ${FOLDER}.\n`);
}

/** Starts the gateway once per day of the history, on the same state, with its clock set to that day. */
async function startTestEnvWithHistory() {
  let stateDirectory: string | undefined;
  let seeded: Seeded | undefined;
  for (const { daysAgo, requests } of HISTORY) {
    const testEnv = await startTestEnv({
      ...(stateDirectory === undefined ? {} : { stateDirectory }),
      env: withShiftedClock({ shiftMs: -daysAgo * DAY_MS }),
    });
    seeded ??= await seed(testEnv);
    await useKeys(testEnv, seeded.secrets, requests);
    ({ stateDirectory } = testEnv.gateway);
    await testEnv.stop({ keepState: true });
  }
  if (!seeded || stateDirectory === undefined) throw new Error('HISTORY is empty');
  // The playground calls the public API from the dashboard's origin, which CORS needs to know at startup.
  const env = { GATEWAY_DASHBOARD_PORT: String(await findFreePort()), GATEWAY_CATALOGUE: 'database' };
  const testEnv = await startTestEnv({ stateDirectory, env });
  const generationId = await useKeys(testEnv, seeded.secrets, 19);
  return { testEnv, seeded: { ...seeded, generationId } };
}

main(process.argv[2]).catch((error: unknown) => {
  process.stderr.write(`${(error as Error).stack ?? String(error)}\n`);
  process.exit(1);
});
