/** @jest-environment @happy-dom/jest-environment */
import { cleanup, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { installApiDouble, pageOf, type ApiDouble } from '../../testing/api-double';
import { BOUNDS, keyWith, ORGANIZATION, sessionOf } from '../../testing/fixtures';
import { renderPage } from '../../testing/render-page';

const KEYS = 'GET /api/organizations/{organization_id}/keys';

describe('the keys page', () => {
  let api: ApiDouble;

  beforeEach(() => {
    api = installApiDouble();
    api.on('GET /api/session', () => sessionOf('admin'));
    api.on('GET /api/organizations', () => ({ data: [ORGANIZATION], next_page_token: null }));
  });
  afterEach(cleanup);

  const respondWithKeys = (...keys: readonly ReturnType<typeof keyWith>[]) =>
    api.on(KEYS, () => ({ data: [...keys], next_page_token: null, bounds: BOUNDS }));

  it('shows name, last four characters, status and exact spend', async () => {
    respondWithKeys(
      keyWith({
        activity: { last_used_at: null, spend_today_usd: '0.000000001', spend_this_month_usd: '12.5' },
      }),
    );
    renderPage('/o/org-1/keys');
    const row = (await screen.findByRole('link', { name: 'production' })).closest('tr') as HTMLElement;
    expect(within(row).getByText('sk-gw-…x7Qe')).toBeTruthy();
    expect(within(row).getAllByText('Active')[0]).toBeTruthy();
    expect(row.textContent).toContain('$0.000000001');
    expect(row.textContent).toContain('$12.50');
    expect(row.textContent).toContain('of $5.00');
    expect(within(row).getByText('Never')).toBeTruthy();
  });

  it('does not show an unavailable figure as zero', async () => {
    respondWithKeys(keyWith({ activity: null }));
    renderPage('/o/org-1/keys');
    const row = (await screen.findByRole('link', { name: 'production' })).closest('tr') as HTMLElement;
    expect(row.textContent).not.toContain('$0.00');
    expect(within(row).getAllByText('—').length).toBe(3);
  });

  it('offers to create the first key', async () => {
    respondWithKeys();
    renderPage('/o/org-1/keys');
    await screen.findByText('No active keys');
    expect(screen.getAllByRole('link', { name: 'Create key' }).length).toBeGreaterThan(0);
  });

  it('hides actions without permission', async () => {
    api.on('GET /api/session', () => sessionOf('member'));
    respondWithKeys();
    renderPage('/o/org-1/keys');
    await screen.findByText('Contact an admin or owner to create a key.');
    expect(screen.queryByRole('link', { name: 'Create key' })).toBeNull();
    expect(screen.queryByText('Audit log')).toBeNull();
  });

  it('shows an error with its request id, and retries on request', async () => {
    api.refuse(KEYS, 500, {
      code: 'internal',
      message: 'Something went wrong on our side. The error was logged.',
    });
    renderPage('/o/org-1/keys');
    await screen.findByText('Couldn’t load keys');
    expect(screen.getByText('req-test')).toBeTruthy();
    respondWithKeys(keyWith());
    await userEvent.click(screen.getByRole('button', { name: 'Try again' }));
    await screen.findByRole('link', { name: 'production' });
  });

  it('shows a loading state', async () => {
    api.hang(KEYS);
    renderPage('/o/org-1/keys');
    await screen.findByText('Loading');
  });

  it('shows playground keys only on request, with their expiry', async () => {
    const playgroundKey = keyWith({
      ...{ id: 'key-3', name: 'Playground: ada@acme.example', kind: 'playground' as const },
      ...{ expires_on: '2026-11-22', expires_at: '2026-11-22T12:15:00.000Z' },
    });
    api.on(KEYS, ({ query }) => ({
      data: query.get('kind') === 'playground' ? [playgroundKey] : [keyWith()],
      ...{ next_page_token: null, bounds: BOUNDS },
    }));
    const { router } = renderPage('/o/org-1/keys');
    await screen.findByRole('link', { name: 'production' });
    expect(screen.queryByRole('link', { name: playgroundKey.name })).toBeNull();
    await userEvent.selectOptions(screen.getByLabelText('Status'), 'Playground keys');
    const row = (await screen.findByRole('link', { name: playgroundKey.name })).closest('tr') as HTMLElement;
    expect(within(row).getAllByText(/Expires 22 Nov 2026, 12:15:00 UTC/)[0]).toBeTruthy();
    expect(screen.queryByRole('link', { name: 'production' })).toBeNull();
    expect(router.state.location.search).toEqual({ show: 'playground' });
  });

  it('searches all keys of the organization, not only the loaded ones', async () => {
    const keys = Array.from({ length: 250 }, (_, index) =>
      keyWith({ id: `key-${250 - index}`, name: `service ${250 - index}`, last4: `z${250 - index}` }),
    );
    api.on(KEYS, ({ query }) => ({
      ...pageOf(keys, query, ({ name, last4 }) => `${name} ${last4}`),
      total: 10_000,
      bounds: BOUNDS,
    }));
    const { router } = renderPage('/o/org-1/keys');
    await screen.findByText('service 250');
    expect(screen.queryByText('service 1')).toBeNull();
    const search = screen.getByLabelText('Search by name, ID or last four characters');
    await userEvent.type(search, 'Service 1');
    await waitFor(() => expect(router.state.location.search).toEqual({ find: 'Service 1' }));
    await waitFor(() => expect(screen.queryByText('service 250')).toBeNull());
    await screen.findByText(/^\d+ of 10,000$/);
    await userEvent.click(await screen.findByText('Load more'));
    await screen.findByText('service 1');
    expect(api.requestsTo(KEYS).at(-1)?.query.get('search')).toBe('Service 1');
  });

  it('sends only the last four characters of a pasted key', async () => {
    respondWithKeys(keyWith());
    const { router } = renderPage('/o/org-1/keys');
    await screen.findByRole('link', { name: 'production' });
    await userEvent.click(screen.getByLabelText('Search by name, ID or last four characters'));
    await userEvent.paste('sk-gw-secret-of-the-key-x7Qe');
    await waitFor(() => expect(router.state.location.search).toEqual({ find: 'x7Qe' }));
    await waitFor(() => expect(api.requestsTo(KEYS).at(-1)?.query.get('search')).toBe('x7Qe'));
    expect(JSON.stringify(api.requestsTo(KEYS).map(({ query }) => String(query)))).not.toContain('secret');
  });

  it('revokes several keys at once, and keeps those selected that fail', async () => {
    const REVOKE = 'POST /api/organizations/{organization_id}/keys/{key_id}/revoke';
    const keys = ['a', 'b', 'c'].map((name) => keyWith({ id: `key-${name}`, name }));
    respondWithKeys(...keys);
    renderPage('/o/org-1/keys');
    for (const name of ['a', 'b', 'c']) await userEvent.click(await screen.findByLabelText(`Select ${name}`));
    await userEvent.click(screen.getByLabelText('Select c'));
    await screen.findByText('2 keys selected');
    api.refuse(REVOKE, 409, { code: 'conflict', message: 'Not now.' });
    await userEvent.click(screen.getByRole('button', { name: 'Revoke 2 keys' }));
    await userEvent.type(screen.getByLabelText(/^Type/), 'revoke');
    await userEvent.click(screen.getByRole('button', { name: 'Revoke keys' }));
    const alert = await screen.findByRole('alert');
    expect(alert.textContent).toMatch(/^2 keys could not be revoked\. [ab]: Not now\.$/);
    api.on(REVOKE, () => ({ key: keyWith({ state: 'revoked' }) }));
    await userEvent.click(screen.getByRole('button', { name: 'Revoke keys' }));
    await screen.findByText('2 keys revoked.');
    await waitFor(() => expect(screen.queryByText('2 keys selected')).toBeNull());
    expect(api.requestsTo(REVOKE).map(({ params }) => params['key_id'])).toEqual([
      ...['key-a', 'key-b', 'key-a', 'key-b'],
    ]);
  });

  it('offers no selection to those who may not revoke every key', async () => {
    api.on('GET /api/session', () => sessionOf('developer'));
    respondWithKeys(keyWith());
    renderPage('/o/org-1/keys');
    await screen.findByRole('link', { name: 'production' });
    expect(screen.queryByLabelText('Select production')).toBeNull();
  });

  it('keeps its filters in the URL', async () => {
    const revoked = keyWith({ id: 'key-2', name: 'old laptop', state: 'revoked' });
    api.on(KEYS, ({ query }) => ({
      ...{ next_page_token: null, bounds: BOUNDS },
      data: query.get('state') === 'revoked' ? [revoked] : [keyWith(), revoked],
    }));
    const { router } = renderPage('/o/org-1/keys?show=revoked');
    await screen.findByRole('link', { name: 'old laptop' });
    expect(screen.queryByRole('link', { name: 'production' })).toBeNull();
    await userEvent.selectOptions(screen.getByLabelText('Status'), 'all');
    await screen.findByRole('link', { name: 'production' });
    await waitFor(() => expect(router.state.location.search).toEqual({ show: 'all' }));
  });
});
