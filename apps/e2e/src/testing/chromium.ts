import { existsSync } from 'node:fs';
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';

/** Tests in a real Chromium, on a machine that may have none. */
export interface BrowserTests {
  /** `it` where there is one; elsewhere a loud skip, and with CI=true a failure. */
  readonly it: jest.It;
  /** Starts it; throws when there is none. */
  launch(): Promise<Browser>;
}

/** Where distributions put it. */
const PLACES = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

/** It asks nobody for anything, and needs no user namespaces, which containers often refuse. */
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

/** The browser that GATEWAY_TEST_CHROMIUM names, else the one of the system. */
function findChromium(): string | undefined {
  return [process.env.GATEWAY_TEST_CHROMIUM, ...PLACES].find((place) => place && existsSync(place));
}

export async function launchChromium(): Promise<Browser> {
  const executablePath = findChromium();
  if (!executablePath) {
    throw new Error('Chromium is missing; .ci/run installs it. GATEWAY_TEST_CHROMIUM may name one.');
  }
  return chromium.launch({ executablePath, args: ARGUMENTS });
}

export function browserTests(): BrowserTests {
  const skipped = !findChromium() && process.env.CI !== 'true';
  if (skipped) {
    console.warn(
      'SKIPPED: no Chromium. `apt-get install chromium` brings it; GATEWAY_TEST_CHROMIUM may name one.',
    );
  }
  return { it: skipped ? (it.skip as jest.It) : it, launch: launchChromium };
}

/** What a page complained about: scripts that threw, and whatever its policy forbade. */
export function complaintsOf(page: Page): string[] {
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(`threw: ${error.message}`));
  page.on('console', (message) => {
    if (/content.security.policy/i.test(message.text())) complaints.push(message.text());
  });
  return complaints;
}

export type { Browser, BrowserContext, Page };
