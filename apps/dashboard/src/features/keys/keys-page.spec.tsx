/** @jest-environment @happy-dom/jest-environment */
import { cleanup, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { installApiDouble, type ApiDouble } from '../../testing/api-double';
import { BOUNDS, keyWith, ORGANIZATION, sessionOf } from '../../testing/fixtures';
import { renderPage } from '../../testing/render-page';

const KEYS = 'GET /api/organizations/{organization_id}/keys';

describe('the page of keys', () => {
  let api: ApiDouble;

  beforeEach(() => {
    api = installApiDouble();
    api.on('GET /api/session', () => sessionOf('admin'));
    api.on('GET /api/organizations', () => ({ data: [ORGANIZATION], next_page_token: null }));
  });
  afterEach(cleanup);

  const answerKeys = (...keys: readonly ReturnType<typeof keyWith>[]) =>
    api.on(KEYS, () => ({ data: [...keys], next_page_token: null, bounds: BOUNDS }));

  it('shows name, last four, state, and what was spent to the nano-dollar', async () => {
    answerKeys(
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

  it('does not pass a figure that cannot be had for a zero', async () => {
    answerKeys(keyWith({ activity: null }));
    renderPage('/o/org-1/keys');
    const row = (await screen.findByRole('link', { name: 'production' })).closest('tr') as HTMLElement;
    expect(row.textContent).not.toContain('$0.00');
    expect(within(row).getAllByText('—').length).toBe(3);
  });

  it('says what to do when there is none', async () => {
    answerKeys();
    renderPage('/o/org-1/keys');
    await screen.findByText('No key yet');
    expect(screen.getAllByRole('link', { name: 'Create a key' }).length).toBeGreaterThan(0);
  });

  it('offers nothing to a member that only admins may', async () => {
    api.on('GET /api/session', () => sessionOf('member'));
    answerKeys();
    renderPage('/o/org-1/keys');
    await screen.findByText('Ask an admin or owner of this organization to create one.');
    expect(screen.queryByRole('link', { name: 'Create a key' })).toBeNull();
    expect(screen.queryByText('Audit log')).toBeNull();
  });

  it('says what failed, with the id of the request, and asks again when told to', async () => {
    api.refuse(KEYS, 500, {
      code: 'internal',
      message: 'Something failed on our side. The failure was recorded.',
    });
    renderPage('/o/org-1/keys');
    await screen.findByText('We could not load the keys');
    expect(screen.getByText('req-of-the-test')).toBeTruthy();
    answerKeys(keyWith());
    await userEvent.click(screen.getByRole('button', { name: 'Try again' }));
    await screen.findByRole('link', { name: 'production' });
  });

  it('shows that it is loading while nothing has come', async () => {
    api.hang(KEYS);
    renderPage('/o/org-1/keys');
    await screen.findByText('Loading');
  });

  it('shows the keys of the playground only when asked for, and until when they work', async () => {
    const made = keyWith({
      ...{ id: 'key-3', name: 'Playground: ada@acme.example', kind: 'playground' as const },
      ...{ expires_on: '2026-11-22', expires_at: '2026-11-22T12:15:00.000Z' },
    });
    api.on(KEYS, ({ query }) => ({
      data: query.get('kind') === 'playground' ? [made] : [keyWith()],
      ...{ next_page_token: null, bounds: BOUNDS },
    }));
    const { router } = renderPage('/o/org-1/keys');
    await screen.findByRole('link', { name: 'production' });
    expect(screen.queryByRole('link', { name: made.name })).toBeNull();
    await userEvent.selectOptions(screen.getByLabelText('State'), 'Of the playground');
    const row = (await screen.findByRole('link', { name: made.name })).closest('tr') as HTMLElement;
    expect(within(row).getAllByText(/until 22 Nov 2026, 12:15:00 UTC/)[0]).toBeTruthy();
    expect(screen.queryByRole('link', { name: 'production' })).toBeNull();
    expect(router.state.location.search).toEqual({ show: 'playground' });
  });

  it('keeps its filters in the address', async () => {
    answerKeys(keyWith(), keyWith({ id: 'key-2', name: 'old laptop', state: 'revoked' }));
    const { router } = renderPage('/o/org-1/keys?show=revoked');
    await screen.findByRole('link', { name: 'old laptop' });
    expect(screen.queryByRole('link', { name: 'production' })).toBeNull();
    await userEvent.selectOptions(screen.getByLabelText('State'), 'all');
    await screen.findByRole('link', { name: 'production' });
    await waitFor(() => expect(router.state.location.search).toEqual({ show: 'all' }));
  });
});
