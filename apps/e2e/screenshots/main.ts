import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { launchChromium } from '../src/support/chromium';
import { takeSession } from '../src/support/dashboard-page';
import { screens } from '../src/support/screens';
import { startWorld } from '../src/support/world';
import { seed } from './seed';

/** Makes a picture of every page: light, dark, and as a phone shows it. */

const FOLDER = path.resolve('dist/screenshots/pictures');
const LOOKS = [
  { name: 'light', colorScheme: 'light', viewport: { width: 1440, height: 900 } },
  { name: 'dark', colorScheme: 'dark', viewport: { width: 1440, height: 900 } },
  { name: 'phone', colorScheme: 'light', viewport: { width: 375, height: 812 } },
] as const;
/** For what pages ask after they are there, and for charts. */
const SETTLE_MS = 700;

async function main(only: string | undefined): Promise<void> {
  if (!only) rmSync(FOLDER, { recursive: true, force: true });
  const world = await startWorld();
  const browser = await launchChromium();
  try {
    const ids = await seed(world);
    const { dashboardUrl, adminEmail, adminPassword } = world.gateway;
    for (const { name: look, ...options } of LOOKS) {
      mkdirSync(path.join(FOLDER, look), { recursive: true });
      const visitor = await browser.newContext(options);
      const operator = await browser.newContext(options);
      await takeSession(operator, dashboardUrl, adminEmail, adminPassword);
      for (const screen of screens(ids).filter(({ name }) => !only || name.includes(only))) {
        const page = await (screen.signedOut ? visitor : operator).newPage();
        await page.goto(dashboardUrl + screen.path);
        await page.getByRole('heading', { level: 1 }).waitFor();
        await page.waitForTimeout(SETTLE_MS);
        await page.screenshot({ path: path.join(FOLDER, look, `${screen.name}.png`), fullPage: true });
        await page.close();
      }
      await visitor.close();
      await operator.close();
    }
  } finally {
    await browser.close();
    await world.stop();
  }
  process.stdout.write(`The pictures are in ${FOLDER}.\n`);
}

main(process.argv[2]).catch((error: unknown) => {
  process.stderr.write(`${(error as Error).stack ?? String(error)}\n`);
  process.exit(1);
});
