import { parseUsd } from '@gateway/base';
import type { BrowserContext, Locator, Page } from './chromium';
import { field } from './field';
import type { Screen } from './screens';

/** The tests use the dashboard by its visible labels. */
export async function signInByPage(
  page: Page,
  dashboardUrl: string,
  email: string,
  password: string,
): Promise<void> {
  await page.goto(`${dashboardUrl}/sign-in`);
  await field(page, 'Email').fill(email);
  await field(page, 'Password').fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('navigation', { name: 'Main' }).waitFor();
}

/** Signs a browser context in through the API's session cookie. */
export async function takeSession(
  context: BrowserContext,
  dashboardUrl: string,
  email: string,
  password: string,
) {
  const response = await context.request.post(`${dashboardUrl}/api/session`, { data: { email, password } });
  if (!response.ok()) throw new Error(`sign-in returned ${response.status()}: ${await response.text()}`);
}

/** Signs in again in the dialog of a page whose session has ended. */
export async function signInAgain(page: Page, password: string): Promise<void> {
  const dialog = page.getByRole('dialog', { name: 'Sign in again' });
  await field(dialog, 'Password').fill(password);
  await dialog.getByRole('button', { name: 'Sign in', exact: true }).click();
  await dialog.waitFor({ state: 'detached' });
}

/** Loads the dashboard and waits until it shows a page with its data. */
export async function openPage(page: Page, url: string): Promise<void> {
  await page.goto(url);
  await waitForContent(page);
}

/** A path without a page: its heading shows that the previous page is no longer displayed. */
const NO_PAGE = '/between-pages';

/**
 * Opens another path of the displayed dashboard as a link does. A new load of the application needs four times
 * as much processor time.
 */
export async function followPath(page: Page, path: string): Promise<void> {
  const push = (to: string) => page.evaluate(`history.pushState({}, '', ${JSON.stringify(to)})`);
  const missing = page.getByRole('heading', { name: 'Not found', level: 1 });
  await push(NO_PAGE);
  await missing.waitFor();
  await push(path);
  await missing.waitFor({ state: 'detached' });
  await waitForContent(page);
}

/** @returns a function that opens one screen after another: by a link if the last one left nothing behind, else by a new load */
export function screenOpener(page: Page, dashboardUrl: string): (screen: Screen) => Promise<void> {
  // A dialog or a simulated error would remain.
  let isClean = false;
  return async ({ name, path, signedOut, prepare }) => {
    await page.unrouteAll();
    if (isClean && !signedOut && name !== 'not-found') await followPath(page, path);
    else await openPage(page, dashboardUrl + path);
    await prepare?.(page);
    await page.getByText('Loading', { exact: true }).first().waitFor({ state: 'detached' });
    isClean = prepare === undefined;
  };
}

async function waitForContent(page: Page): Promise<void> {
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.getByText('Loading', { exact: true }).first().waitFor({ state: 'detached' });
}

/** Everything that the page stored in the browser. Reads by index, because a spread misses an item named "key". */
export function storageOf(page: Page): Promise<string> {
  return page.evaluate<string>(
    `JSON.stringify([localStorage, sessionStorage].map((storage) =>
      Array.from({ length: storage.length }, (_, index) => [storage.key(index), storage.getItem(storage.key(index))])))`,
  );
}

/** The exact nano-dollars of the only amount in an element, which may show it rounded. */
export async function nanoUsdIn(element: Locator): Promise<bigint> {
  const usd = await element.locator('data').getAttribute('value');
  const amount = parseUsd(usd ?? '');
  if (amount === undefined) throw new Error(`not an amount: ${usd}`);
  return amount;
}

/** Creates a key on its page and returns the secret that the page shows. */
export async function createKeyByPage(
  page: Page,
  dashboardUrl: string,
  organizationId: string,
  name: string,
) {
  await page.goto(`${dashboardUrl}/o/${organizationId}/keys/new`);
  await field(page, 'Name').fill(name);
  await field(page, 'Read usage').check();
  await page.getByRole('button', { name: 'Create key' }).click();
  return field(page, 'Your key').inputValue();
}
