/** @jest-environment @happy-dom/jest-environment */
import { cleanup, screen } from '@testing-library/react';
import { installApiDouble, type ApiDouble } from '../testing/api-double';
import { ORGANIZATION, sessionOf } from '../testing/fixtures';
import { renderPage } from '../testing/render-page';

const NOTIFICATIONS = 'GET /api/operator/notifications';
const AT = '2026-11-20T09:00:00.000Z';

describe('the navigation', () => {
  let api: ApiDouble;

  beforeEach(() => {
    api = installApiDouble();
    api.on('GET /api/organizations', () => ({ data: [ORGANIZATION], next_page_token: null }));
    api.on(NOTIFICATIONS, () => ({
      settings: { email_enabled: true, extra_emails: [], webhook_host: null },
      sends_mail: true,
      operator_emails: [],
      incidents: ['acme/large-1', 'acme/large-2'].map((subject) => ({
        ...{ cause: 'model_unavailable', subject, details: '', since: AT },
        ...{ last_reported_at: AT, notified_at: null },
      })),
      notifications: [],
    }));
  });
  afterEach(cleanup);

  it('shows operators the number of open incidents', async () => {
    api.on('GET /api/session', () => sessionOf('operator'));
    renderPage('/account');
    await screen.findByRole('link', { name: 'Notifications 2 incidents' });
  });

  it('requests no incidents for customers', async () => {
    api.on('GET /api/session', () => sessionOf('owner'));
    renderPage('/o/org-1/models');
    await screen.findByRole('link', { name: 'Members' });
    expect(api.requestsTo(NOTIFICATIONS)).toEqual([]);
  });
});
