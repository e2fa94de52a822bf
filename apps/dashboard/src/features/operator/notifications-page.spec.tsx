/** @jest-environment @happy-dom/jest-environment */
import type { Result } from '@gateway/dashboard-contract/client';
import { cleanup, screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { installApiDouble, type ApiDouble } from '../../testing/api-double';
import { sessionOf } from '../../testing/fixtures';
import { renderPage } from '../../testing/render-page';

const NOTIFICATIONS: Result<'GET /api/operator/notifications'> = {
  settings: { email_enabled: true, extra_emails: [], webhook_host: 'hooks.example.com' },
  sends_mail: true,
  operator_emails: ['ops@example.com'],
  incidents: [
    {
      cause: 'upstream_config_error',
      subject: 'acme/large-1',
      details: 'used by acme/large',
      since: '2026-11-20T09:00:00.000Z',
      last_reported_at: '2026-11-20T09:01:00.000Z',
      notified_at: null,
    },
  ],
  notifications: [
    {
      id: 'ntf-1',
      created_at: '2026-11-20T09:00:30.000Z',
      kind: 'test',
      cause: null,
      title: 'Test notification',
      subjects: [],
      deliveries: [
        { recipient: 'ops@example.com', delivered_at: '2026-11-20T09:00:31.000Z', failure: null },
        { recipient: 'webhook', delivered_at: null, failure: 'The webhook returned status 500.' },
      ],
    },
  ],
};

describe('the notifications page', () => {
  let api: ApiDouble;

  beforeEach(() => {
    api = installApiDouble();
    api.on('GET /api/session', () => sessionOf('operator'));
    api.on('GET /api/organizations', () => ({ data: [], next_page_token: null }));
  });
  afterEach(cleanup);

  it('shows open incidents, and why a delivery failed', async () => {
    api.on('GET /api/operator/notifications', () => NOTIFICATIONS);
    renderPage('/operator/notifications');
    const incidents = await screen.findByRole('table', { name: 'Open incidents' });
    expect(within(incidents).getByText('acme/large-1')).toBeTruthy();
    const history = screen.getByRole('table', { name: 'Notifications' });
    expect(within(history).getByText('Delivered')).toBeTruthy();
    expect(within(history).getByText('The webhook returned status 500.')).toBeTruthy();
  });

  it('says that email is not configured', async () => {
    api.on('GET /api/operator/notifications', () => ({ ...NOTIFICATIONS, sends_mail: false }));
    renderPage('/operator/notifications');
    expect(await screen.findByText('Email is not configured')).toBeTruthy();
  });

  it('keeps the webhook unless a new URL is given, and shows the secret of a new one once', async () => {
    api.on('GET /api/operator/notifications', () => NOTIFICATIONS);
    const bodies: unknown[] = [];
    api.on('PUT /api/operator/notifications/settings', ({ body }) => {
      bodies.push(body);
      return { settings: NOTIFICATIONS.settings, webhook_secret: bodies.length === 1 ? null : 'whsec_x' };
    });
    renderPage('/operator/notifications');
    const save = async (url?: string) => {
      await userEvent.click(await screen.findByRole('button', { name: 'Edit' }));
      const dialog = await screen.findByRole('dialog', { name: 'Notifications' });
      if (url) await userEvent.type(within(dialog).getByLabelText(/New webhook URL/), url);
      await userEvent.click(within(dialog).getByRole('button', { name: 'Save' }));
    };
    await save();
    expect(screen.queryByRole('dialog', { name: 'Webhook signing secret' })).toBeNull();
    await save('https://new.example.com/x');
    await screen.findByRole('dialog', { name: 'Webhook signing secret' });
    expect(bodies).toEqual([
      { email_enabled: true, extra_emails: [] },
      { email_enabled: true, extra_emails: [], webhook_url: 'https://new.example.com/x' },
    ]);
  });
});
