/** @jest-environment @happy-dom/jest-environment */
import { cleanup, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { installApiDouble, type ApiDouble } from '../../testing/api-double';
import {
  BOUNDS,
  keyWith,
  modelWith,
  ORGANIZATION,
  projectWith,
  sessionOf,
  modelList,
} from '../../testing/fixtures';
import { renderPage } from '../../testing/render-page';

const UPDATE = 'PATCH /api/organizations/{organization_id}/keys/{key_id}';

describe('the page of a key', () => {
  let api: ApiDouble;

  beforeEach(() => {
    api = installApiDouble();
    api.on('GET /api/session', () => sessionOf('admin'));
    api.on('GET /api/organizations', () => ({ data: [ORGANIZATION], next_page_token: null }));
    api.on('GET /api/models', () => modelList([modelWith('acme/a')]));
  });
  afterEach(cleanup);

  const respondWith = (key: ReturnType<typeof keyWith>) =>
    api.on('GET /api/organizations/{organization_id}/keys/{key_id}', () => ({ key, bounds: BOUNDS }));

  it('does not turn a restricted key into one for all models when its last model is cleared', async () => {
    respondWith(keyWith({ allowed_models: ['acme/a'] }));
    api.on(UPDATE, () => ({ key: keyWith() }));
    renderPage('/o/org-1/keys/key-1');
    await userEvent.click(await screen.findByRole('button', { name: 'Edit' }));
    await userEvent.click(await screen.findByLabelText('acme/a'));
    await userEvent.click(screen.getByRole('button', { name: 'Save' }));
    await screen.findByText('Select at least one model.');
    expect(api.requestsTo(UPDATE)).toEqual([]);
    await userEvent.click(screen.getByLabelText('All models, including future ones'));
    await userEvent.click(screen.getByRole('button', { name: 'Save' }));
    await waitFor(() =>
      expect(api.requestsTo(UPDATE)).toMatchObject([{ body: { allowed_models: null, version: 1 } }]),
    );
  });

  it('shows whether JSON in streams is allowed, and keeps it while something else changes', async () => {
    respondWith(keyWith({ json_streaming: true }));
    api.on(UPDATE, () => ({ key: keyWith({ json_streaming: true }) }));
    renderPage('/o/org-1/keys/key-1');
    const [fact] = await screen.findAllByText('JSON in streams');
    expect(fact?.parentElement?.textContent).toContain('Allowed');
    await userEvent.click(screen.getByRole('button', { name: 'Edit' }));
    const box = await screen.findByRole<HTMLInputElement>('checkbox', { name: 'JSON in streams' });
    expect(box.checked).toBe(true);
    await userEvent.type(screen.getByLabelText(/^Name/), ' 2');
    await userEvent.click(screen.getByRole('button', { name: 'Save' }));
    await waitFor(() => expect(api.requestsTo(UPDATE)).toMatchObject([{ body: { json_streaming: true } }]));
    await userEvent.click(await screen.findByRole('button', { name: 'Edit' }));
    await userEvent.click(await screen.findByRole('checkbox', { name: 'JSON in streams' }));
    await userEvent.click(screen.getByRole('button', { name: 'Save' }));
    await waitFor(() =>
      expect(api.requestsTo(UPDATE).at(-1)).toMatchObject({ body: { json_streaming: false } }),
    );
  });

  it('shows every budget that applies to the key, and which is reached first', async () => {
    const spendOf = (today_usd: string) => ({
      ...{
        today_usd,
        this_week_usd: today_usd,
        this_month_usd: today_usd,
        total_usd: today_usd,
        held_usd: '0',
      },
    });
    api.on('GET /api/organizations/{organization_id}', () => ({ organization: ORGANIZATION }));
    api.on('GET /api/organizations/{organization_id}/budget-spend', () => ({
      spend: spendOf('24'),
      windows: [],
      models: [],
    }));
    api.on('GET /api/organizations/{organization_id}/keys/{key_id}/budget-spend', () => ({
      spend: spendOf('1'),
      windows: [],
      models: [],
    }));
    api.on('GET /api/organizations/{organization_id}/projects/{project_id}/budget-spend', () => ({
      spend: spendOf('5'),
      windows: [{ hours: 5, spent_usd: '2', held_usd: '0' }],
      models: [],
    }));
    const budgets = [{ period: 'window' as const, hours: 5, amount_usd: '8' }];
    api.on('GET /api/organizations/{organization_id}/projects', () => ({
      data: [{ ...projectWith({ daily_budget_usd: '10', budgets }), spend: spendOf('5') }],
      next_page_token: null,
    }));
    const perUser = { period: 'week' as const, hours: 0, per_end_user: true, amount_usd: '0.25' };
    respondWith(keyWith({ project_id: 'proj-1', daily_budget_usd: '20', budgets: [perUser] }));
    api.on('GET /api/organizations/{organization_id}/keys/{key_id}/end-user-spend', () => ({
      data: [
        { end_user: 'alice', spent_usd: '0.2', held_usd: '0' },
        { end_user: null, spent_usd: '0.05', held_usd: '0' },
      ],
    }));
    renderPage('/o/org-1/keys/key-1');
    await screen.findByRole('meter', { name: 'Daily budget: This key' });
    const daily = screen.getByText('Daily budget').parentElement?.textContent;
    expect(daily).toContain('This key: $20.00 $1.00 spent (5%), $19.00 left.');
    expect(daily).toContain('Project Website: $10.00 $5.00 spent (50%), $5.00 left.');
    // $1.00 of the organization is left, less than of the key and the project.
    expect(daily).toContain('all keys together: $25.00 Reached first$24.00 spent (96%), $1.00 left.');
    const factOf = (name: string) => screen.getByText(name).parentElement?.textContent;
    await waitFor(() => expect(factOf('5-hour budget')).toContain('$2.00 spent (25%)'));
    await screen.findByRole('meter', { name: 'Weekly budget of each end user: alice' });
    const ofUsers = factOf('Weekly budget of each end user');
    expect(ofUsers).toContain('This key: $0.25');
    expect(ofUsers).toContain('alice$0.20 spent (80%), $0.05 left.');
    expect(ofUsers).toContain('Requests without an end user$0.05 spent (20%), $0.20 left.');
    expect(ofUsers).toContain('Resets on Mondays at 00:00 UTC.');
    expect(screen.getByRole('link', { name: 'alice' }).getAttribute('href')).toContain('user=alice');
    const wanted = api.requestsTo('GET /api/organizations/{organization_id}/keys/{key_id}/end-user-spend');
    expect(wanted.map(({ query }) => query.toString())).toEqual(['period=week']);
    const perMinute = screen.getByText('Requests per minute').parentElement?.textContent;
    expect(perMinute).toContain('60, and 600 shared by all keys');
  });

  it('lets developers change their own keys only', async () => {
    api.on('GET /api/session', () => sessionOf('developer'));
    respondWith(keyWith({ owner: { id: 'mem-2', email: 'bob@example.com', name: 'Bob', has_left: false } }));
    renderPage('/o/org-1/keys/key-1');
    await screen.findByText('Bob <bob@example.com>');
    expect(screen.queryByRole('button', { name: 'Revoke' })).toBeNull();
    cleanup();
    respondWith(keyWith());
    renderPage('/o/org-1/keys/key-1');
    await screen.findByRole('button', { name: 'Revoke' });
    expect(screen.queryByRole('button', { name: 'Transfer' })).toBeNull();
  });

  it('transfers the key of a person who left to a member who may own keys', async () => {
    const transfer = 'POST /api/organizations/{organization_id}/keys/{key_id}/transfer';
    respondWith(keyWith({ owner: { id: 'mem-2', email: 'bob@example.com', name: 'Bob', has_left: true } }));
    const memberOf = (id: string, email: string, role: 'developer' | 'billing') => ({
      ...{ id, email, name: '', role, second_factor: false },
      ...{ joined_at: '2026-11-01T09:00:00.000Z', last_seen_at: null },
    });
    api.on('GET /api/organizations/{organization_id}/members', () => ({
      data: [
        memberOf('mem-3', 'eve@example.com', 'developer'),
        memberOf('mem-4', 'joe@example.com', 'billing'),
      ],
      next_page_token: null,
    }));
    api.on(transfer, () => ({ key: keyWith() }));
    renderPage('/o/org-1/keys/key-1');
    await screen.findByText('The owner has left');
    await userEvent.click(screen.getByRole('button', { name: 'Transfer' }));
    await screen.findByRole('option', { name: 'eve@example.com' });
    expect(screen.queryByRole('option', { name: 'joe@example.com' })).toBeNull();
    await userEvent.selectOptions(screen.getByLabelText('New owner'), 'mem-3');
    await userEvent.click(screen.getByRole('button', { name: 'Transfer key' }));
    await screen.findByText('Key transferred.');
    expect(api.requestsTo(transfer)).toMatchObject([{ body: { member_id: 'mem-3' } }]);
  });

  it('lets an expired key keep its date while something else changes', async () => {
    respondWith(keyWith({ state: 'expired', expires_on: '2025-01-01' }));
    api.on(UPDATE, () => ({ key: keyWith() }));
    renderPage('/o/org-1/keys/key-1');
    await userEvent.click(await screen.findByRole('button', { name: 'Edit' }));
    await userEvent.click(screen.getByRole('button', { name: 'Save' }));
    await waitFor(() =>
      expect(api.requestsTo(UPDATE)).toMatchObject([{ body: { expires_on: '2025-01-01' } }]),
    );
  });
});
