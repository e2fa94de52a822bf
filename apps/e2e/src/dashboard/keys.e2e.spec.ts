import { APIError } from 'openai';
import { browserTests, collectPageErrors, type Browser, type Page } from '../testing/chromium';
import { createKeyByPage, signInByPage, storageOf, takeSession } from '../testing/dashboard-page';
import { field } from '../testing/field';
import { joinTestEnv, type SharedTestEnv } from '../testing/test-env';

jest.setTimeout(180_000);

const browsers = browserTests();

describe('keys in the dashboard, in a real browser', () => {
  let testEnv: SharedTestEnv;
  let browser: Browser;
  let page: Page;

  const startOnce = async () => {
    if (testEnv) return;
    testEnv = await joinTestEnv();
    browser = await browsers.launch();
    page = await browser.newPage();
    const { dashboardUrl, adminEmail, adminPassword } = testEnv.gateway;
    await signInByPage(page, dashboardUrl, adminEmail, adminPassword);
  };

  afterAll(async () => {
    await browser?.close();
    await testEnv?.stop();
  });

  const complete = (apiKey: string) =>
    testEnv.client(apiKey).chat.completions.create({
      model: 'demo/small',
      max_tokens: 20,
      messages: [{ role: 'user', content: 'Hello!' }],
    });

  /** The status and code of the API's error; fails if the request succeeds. */
  const errorOf = async (apiKey: string) => {
    const error: unknown = await complete(apiKey).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(APIError);
    return [(error as APIError).status, (error as APIError).code];
  };

  browsers.it('creates a key that works immediately, and shows its secret only once', async () => {
    await startOnce();
    const pageErrors = collectPageErrors(page);
    const { organizationId } = await testEnv.tenant();
    const secret = await createKeyByPage(
      page,
      testEnv.gateway.dashboardUrl,
      organizationId,
      'from the browser',
    );
    expect(secret).toMatch(/^sk-gw-/);
    expect((await complete(secret)).choices[0]?.message.content).toBeTruthy();
    await expect(page.locator('pre').innerText()).resolves.toContain(secret);

    await page.getByRole('link', { name: 'Done' }).click();
    await page.getByRole('link', { name: 'from the browser' }).waitFor();
    expect(await page.content()).not.toContain(secret);
    const stored = await storageOf(page);
    expect(stored).not.toContain('sk-gw-');
    expect(pageErrors).toEqual([]);
  });

  browsers.it('reports a key as revoked only once the next API call with it fails', async () => {
    await startOnce();
    const { organizationId } = await testEnv.tenant();
    const { dashboardUrl } = testEnv.gateway;
    const secret = await createKeyByPage(page, dashboardUrl, organizationId, 'to be revoked');
    await complete(secret);
    await page.getByRole('link', { name: 'Done' }).click();
    await page.getByRole('link', { name: 'to be revoked' }).click();
    await page.getByRole('button', { name: 'Revoke' }).click();

    const confirm = page.getByRole('button', { name: 'Revoke key' });
    expect(await confirm.isDisabled()).toBe(true);
    await field(page, 'Type to be revoked to confirm').fill('to be revoked');
    await confirm.click();
    await page.getByText('Key revoked.').waitFor();
    expect(await errorOf(secret)).toEqual([401, 'key_revoked']);
  });

  browsers.it('allows JSON in streams for a key, from the moment that the page says so', async () => {
    await startOnce();
    const { organizationId, keyId, apiKey } = await testEnv.tenant();
    const streamed = () =>
      testEnv
        .client(apiKey)
        .chat.completions.stream({
          model: 'demo/standard',
          max_tokens: 100,
          messages: [{ role: 'user', content: 'Hello!' }],
          response_format: { type: 'json_object' },
        })
        .finalContent();
    await expect(streamed()).rejects.toMatchObject({ code: 'json_mode_no_stream' });
    await page.goto(`${testEnv.gateway.dashboardUrl}/o/${organizationId}/keys/${keyId}`);
    await page.getByRole('button', { name: 'Edit' }).click();
    await field(page, 'JSON in streams').check();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Key updated.').waitFor();
    expect(JSON.parse((await streamed()) ?? '')).toEqual(expect.any(Object));
  });

  browsers.it('warns the second of two editors of a key, and keeps the change of the first', async () => {
    await startOnce();
    const { organizationId, keyId } = await testEnv.tenant();
    const { dashboardUrl, adminEmail, adminPassword } = testEnv.gateway;
    const other = await browser.newContext();
    await takeSession(other, dashboardUrl, adminEmail, adminPassword);
    const address = `${dashboardUrl}/o/${organizationId}/keys/${keyId}`;
    const [first, second] = [page, await other.newPage()];
    for (const editor of [first, second]) {
      await editor.goto(address);
      await editor.getByRole('button', { name: 'Edit' }).click();
    }
    await field(first, 'Concurrent requests').fill('7');
    await first.getByRole('button', { name: 'Save' }).click();
    await first.getByText('Key updated.').waitFor();

    await field(second, 'Name').fill('named by the second');
    await second.getByRole('button', { name: 'Save' }).click();
    await second.getByText('Someone else changed this key').waitFor();
    const key = async () =>
      (
        await testEnv.admin.call<{ key: { name: string; concurrency: number | null } }>(
          'GET',
          `/api/organizations/${organizationId}/keys/${keyId}`,
        )
      ).key;
    expect(await key()).toMatchObject({ name: 'test key', concurrency: 7 });

    await second.getByRole('button', { name: 'Discard my changes' }).click();
    expect(await field(second, 'Concurrent requests').inputValue()).toBe('7');
    await field(second, 'Name').fill('named by the second');
    await second.getByRole('button', { name: 'Save' }).click();
    await second.getByText('Key updated.').waitFor();
    expect(await key()).toMatchObject({ name: 'named by the second', concurrency: 7 });
    await other.close();
  });

  browsers.it(
    'warns the second of two editors of limits, keeps the input, and saves either version',
    async () => {
      await startOnce();
      const { organizationId } = await testEnv.tenant({ limits: { requests_per_minute: 100 } });
      const { dashboardUrl, adminEmail, adminPassword } = testEnv.gateway;
      const other = await browser.newContext();
      await takeSession(other, dashboardUrl, adminEmail, adminPassword);
      const [first, second] = [page, await other.newPage()];
      for (const editor of [first, second]) {
        await editor.goto(`${dashboardUrl}/o/${organizationId}/limits`);
        await editor.getByRole('button', { name: 'Edit' }).click();
      }
      const limits = async () =>
        (
          await testEnv.admin.call<{ organization: { limits: object } }>(
            'GET',
            `/api/organizations/${organizationId}`,
          )
        ).organization.limits;
      const save = async (editor: Page) => {
        await editor.getByRole('button', { name: 'Save', exact: true }).click();
        // Does not wait for the notification, because that of the previous save may still be visible.
        await editor.getByRole('button', { name: 'Edit' }).waitFor();
      };
      const saveOutdated = async (editor: Page) => {
        await editor.getByRole('button', { name: 'Save', exact: true }).click();
        await editor.getByText('Someone else changed these limits').waitFor();
      };
      await field(first, 'Requests per minute').fill('70');
      await save(first);
      await field(second, 'Concurrent requests').fill('7');
      await saveOutdated(second);
      expect(await limits()).toMatchObject({ requests_per_minute: 70, concurrency: null });
      expect(await field(second, 'Concurrent requests').inputValue()).toBe('7');

      await second.getByRole('button', { name: 'Discard my changes' }).click();
      expect(await field(second, 'Requests per minute').inputValue()).toBe('70');
      expect(await field(second, 'Concurrent requests').inputValue()).toBe('');
      await field(second, 'Concurrent requests').fill('7');
      await save(second);
      expect(await limits()).toMatchObject({ requests_per_minute: 70, concurrency: 7 });

      // The first editor's version is now outdated. It gets the warning, too, and may overwrite.
      await first.getByRole('button', { name: 'Edit' }).click();
      await field(first, 'Requests per minute').fill('71');
      await saveOutdated(first);
      await first.getByRole('button', { name: 'Keep my changes' }).click();
      await save(first);
      expect(await limits()).toMatchObject({ requests_per_minute: 71, concurrency: null });
      await other.close();
    },
  );

  browsers.it('rotates a key: the new secret works, and the old one works until it is revoked', async () => {
    await startOnce();
    const { organizationId, keyId, apiKey } = await testEnv.tenant();
    await page.goto(`${testEnv.gateway.dashboardUrl}/o/${organizationId}/keys/${keyId}`);
    await page.getByRole('button', { name: 'Rotate' }).click();
    await page.getByRole('button', { name: 'Rotate key' }).click();
    const secret = await field(page, 'Your key').inputValue();
    expect(secret).not.toBe(apiKey);
    await complete(secret);
    await complete(apiKey);

    await page.getByRole('button', { name: 'Revoke now' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke', exact: true }).click();
    await page.getByText('Old secret revoked.').waitFor();
    expect((await errorOf(apiKey))[0]).toBe(401);
    await complete(secret);
  });

  browsers.it('limits a key to the limits of its organization before the request is sent', async () => {
    await startOnce();
    const { organizationId } = await testEnv.tenant({
      limits: { requests_per_minute: 100, daily_budget_usd: '5' },
    });
    await page.goto(`${testEnv.gateway.dashboardUrl}/o/${organizationId}/keys/new`);
    await page.getByText('Organization limit: 100.').waitFor();
    await field(page, 'Name').fill('too much');
    await field(page, 'Requests per minute').fill('101');
    await field(page, 'Daily budget').fill('5.000000001');
    await field(page, 'Allowed IPs').fill('10.0.0.0/8\n300.1.1.1');
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.getByText('Organization limit: $5.00.').waitFor();
    await page.getByText('Above the organization limit.').nth(1).waitFor();
    await page.getByText('“300.1.1.1” is not an IP address or CIDR range.').waitFor();
    const { data } = await testEnv.admin.call<{ data: unknown[] }>(
      'GET',
      `/api/organizations/${organizationId}/keys`,
    );
    expect(data).toHaveLength(1);
  });
});
