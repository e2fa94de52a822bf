import { existsSync } from 'node:fs';
import { chromium, type Browser, type BrowserContext, type Locator, type Page } from 'playwright-core';

/** Tests in a real Chromium, which a machine may lack. */
export interface BrowserTests {
  /** `it` if Chromium is installed; otherwise a skip with a warning, or with CI=true a failure. */
  readonly it: jest.It;
  /** Starts Chromium; throws if it is not installed. */
  launch(): Promise<Browser>;
}

/** Where systems install it. The headless shell needs a third less processor time: it has no user interface. */
const PATHS = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

/** No background network traffic, and no user namespaces, which containers often forbid. */
const ARGUMENTS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** The browser at GATEWAY_TEST_CHROMIUM, or else the system's. */
function findChromium(): string | undefined {
  return [process.env.GATEWAY_TEST_CHROMIUM, ...PATHS].find((file) => file && existsSync(file));
}

export async function launchChromium(): Promise<Browser> {
  const executablePath = findChromium();
  if (!executablePath) {
    throw new Error('Chromium is missing; .ci/run installs it. Or set GATEWAY_TEST_CHROMIUM to its path.');
  }
  return chromium.launch({ executablePath, args: ARGUMENTS });
}

export function browserTests(): BrowserTests {
  const skipped = !findChromium() && process.env.CI !== 'true';
  if (skipped) {
    console.warn(
      'SKIPPED: no Chromium. Install it with `apt-get install chromium-headless-shell`, or set GATEWAY_TEST_CHROMIUM to its path.',
    );
  }
  return { it: skipped ? (it.skip as jest.It) : it, launch: launchChromium };
}

/** Collects a page's uncaught exceptions and its violations of the content security policy. */
export function collectPageErrors(page: Page): string[] {
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(`threw: ${error.message}`));
  page.on('console', (message) => {
    if (/content.security.policy/i.test(message.text())) errors.push(message.text());
  });
  return errors;
}

export type { Browser, BrowserContext, Locator, Page };
