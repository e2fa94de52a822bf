/** @jest-environment @happy-dom/jest-environment */
import { cleanup, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { installApiDouble, type ApiDouble } from '../../testing/api-double';
import { ORGANIZATION, sessionOf } from '../../testing/fixtures';
import { renderPage } from '../../testing/render-page';

const ALERT = 'GET /api/organizations/{organization_id}/credit-alert';
const SET = 'PUT /api/organizations/{organization_id}/credit-alert';
const STORED = {
  threshold_usd: '5',
  webhook_origin: 'https://hooks.example.com',
  emails: [],
  budget_shares: [80, 100],
  last_sent_at: null,
  last_failure: null,
};

describe('the webhook of a low-balance alert', () => {
  let api: ApiDouble;

  beforeEach(async () => {
    api = installApiDouble();
    api.on('GET /api/session', () => sessionOf('operator'));
    api.on('GET /api/organizations', () => ({ data: [ORGANIZATION], next_page_token: null }));
    api.on(ALERT, () => ({ alert: STORED }));
    api.on(SET, () => ({ alert: STORED, webhook_secret: null }));
    renderPage('/o/org-1/credit');
    await screen.findByText('https://hooks.example.com/…');
    const [edit] = screen.getAllByRole('button', { name: 'Edit' });
    await userEvent.click(edit as HTMLElement);
  });
  afterEach(cleanup);

  const saved = async () => {
    await userEvent.click(screen.getByRole('button', { name: 'Save' }));
    await waitFor(() => expect(api.requestsTo(SET)).toHaveLength(1));
    return api.requestsTo(SET)[0]?.body;
  };

  it('stays when the form is saved without a new URL', async () => {
    expect(screen.getByLabelText<HTMLInputElement>(/New webhook URL/).value).toBe('');
    expect(await saved()).toEqual({ threshold_usd: '5', emails: [], budget_shares: [80, 100] });
  });

  it('is replaced by a new URL', async () => {
    await userEvent.type(screen.getByLabelText(/New webhook URL/), 'https://new.example.com/path');
    expect(await saved()).toMatchObject({ webhook_url: 'https://new.example.com/path' });
  });

  it('is saved with the shares of budgets to report', async () => {
    const field = screen.getByLabelText(/^Budget alerts at/);
    await userEvent.clear(field);
    await userEvent.type(field, '101');
    await screen.findByText('Enter at most 5 whole numbers from 1 to 100.');
    await userEvent.clear(field);
    await userEvent.type(field, '50, 90 %');
    expect(await saved()).toMatchObject({ budget_shares: [50, 90] });
  });

  it('is removed on request', async () => {
    await userEvent.click(screen.getByLabelText('Remove the webhook'));
    expect(await saved()).toMatchObject({ webhook_url: null });
  });
});

it('says that a low-balance alert without a recipient notifies no one', async () => {
  const api = installApiDouble();
  api.on('GET /api/session', () => sessionOf('operator'));
  api.on('GET /api/organizations', () => ({ data: [ORGANIZATION], next_page_token: null }));
  api.on(ALERT, () => ({ alert: { ...STORED, webhook_origin: null } }));
  renderPage('/o/org-1/credit');
  await screen.findByText(/No one is notified: add a webhook or an email address\.$/);
  cleanup();
});

describe('the sent budget alerts', () => {
  const LIST = 'GET /api/organizations/{organization_id}/budget-alerts';
  let api: ApiDouble;

  beforeEach(() => {
    api = installApiDouble();
    api.on('GET /api/session', () => sessionOf('operator'));
    api.on('GET /api/organizations', () => ({ data: [ORGANIZATION], next_page_token: null }));
    api.on(ALERT, () => ({ alert: STORED }));
  });
  afterEach(cleanup);

  it('are listed with the budget and what was delivered', async () => {
    const alert = {
      ...{ id: 'one', scope: 'key' as const, owner_id: 'key-1', owner_name: 'Website', share_percent: 80 },
      ...{ period: 'month' as const, hours: null, model: 'acme/*', period_start: '2027-04' },
      ...{ budget_usd: '20', spent_usd: '16.5', reached_at: '2027-04-15T12:00:00.000Z' },
      ...{ delivered: 2, undelivered: 1, end_users: null },
    };
    const ofUsers = { ...alert, id: 'three', scope: 'end_user' as const, model: null, end_users: 1_200 };
    const window = { ...alert, id: 'two', period: 'window' as const, hours: 5, model: null, undelivered: 0 };
    api.on(LIST, () => ({ data: [alert, window, ofUsers] }));
    renderPage('/o/org-1/credit');
    const table = await screen.findByRole('table', { name: 'Sent budget alerts' });
    expect(table.textContent).toContain('Monthly budget for acme/*');
    expect(table.textContent).toContain('2 reached, 1 not reached');
    expect(table.textContent).toContain('5-hour budget');
    expect(table.textContent).toContain('Monthly budget of each end user, reached by 1,200');
  });

  it('have no section without any', async () => {
    api.on(LIST, () => ({ data: [] }));
    renderPage('/o/org-1/credit');
    await screen.findByText('https://hooks.example.com/…');
    await waitFor(() => expect(api.requestsTo(LIST)).toHaveLength(1));
    expect(screen.queryByText('Sent budget alerts')).toBeNull();
  });
});
