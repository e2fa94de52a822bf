import type { BrowserContext, Page } from './chromium';

/** How the tests use the dashboard: by the names that a person reads. */
export async function signInByPage(
  page: Page,
  dashboardUrl: string,
  email: string,
  password: string,
): Promise<void> {
  await page.goto(`${dashboardUrl}/sign-in`);
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('navigation', { name: 'Main' }).waitFor();
}

/** A tab of somebody who is signed in already, by the cookie that the API gave. */
export async function takeSession(
  context: BrowserContext,
  dashboardUrl: string,
  email: string,
  password: string,
) {
  const answer = await context.request.post(`${dashboardUrl}/api/session`, { data: { email, password } });
  if (!answer.ok()) throw new Error(`signing in answered ${answer.status()}: ${await answer.text()}`);
}

/** In the dialog over a page whose session has ended. */
export async function signInAgain(page: Page, password: string): Promise<void> {
  const dialog = page.getByRole('dialog', { name: 'Sign in again' });
  await dialog.getByLabel('Password').fill(password);
  await dialog.getByRole('button', { name: 'Sign in', exact: true }).click();
  await dialog.waitFor({ state: 'detached' });
}

/** Everything that the page keeps in the browser; by index, since a thing named "key" hides from a spread. */
export function storageOf(page: Page): Promise<string> {
  return page.evaluate<string>(
    `JSON.stringify([localStorage, sessionStorage].map((storage) =>
      Array.from({ length: storage.length }, (_, index) => [storage.key(index), storage.getItem(storage.key(index))])))`,
  );
}

/** Creates a key on its page and gives back the secret that the page shows. */
export async function createKeyByPage(
  page: Page,
  dashboardUrl: string,
  organizationId: string,
  name: string,
) {
  await page.goto(`${dashboardUrl}/o/${organizationId}/keys/new`);
  await page.getByLabel('Name').fill(name);
  await page.getByLabel('Read usage').check();
  await page.getByRole('button', { name: 'Create key' }).click();
  return page.getByLabel('Your key').inputValue();
}
