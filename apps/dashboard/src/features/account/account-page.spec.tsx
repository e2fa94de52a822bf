/** @jest-environment @happy-dom/jest-environment */
import { cleanup, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { installApiDouble, type ApiDouble } from '../../testing/api-double';
import { ORGANIZATION, sessionOf } from '../../testing/fixtures';
import { renderPage } from '../../testing/render-page';

describe('the account page', () => {
  let api: ApiDouble;

  beforeEach(() => {
    api = installApiDouble();
    api.on('GET /api/organizations', () => ({ data: [ORGANIZATION], next_page_token: null }));
  });
  afterEach(cleanup);

  it('shows the role in each organization, and no other role', async () => {
    const session = sessionOf('admin');
    const memberships = session.memberships.map((one) => ({ ...one, role: 'owner' as const }));
    api.on('GET /api/session', () => ({ ...session, memberships }));
    renderPage('/account');
    await screen.findByText('(owner)');
    expect(screen.queryByText('Role')).toBeNull();
  });

  it('saves the name of the person', async () => {
    api.on('GET /api/session', () => sessionOf('admin'));
    api.on('PUT /api/account/profile', () => undefined as never);
    renderPage('/account');
    await userEvent.type(await screen.findByLabelText(/^Name/), 'Ada Lovelace');
    await userEvent.click(screen.getByRole('button', { name: 'Save profile' }));
    await screen.findByText('Profile saved.');
    expect(api.requestsTo('PUT /api/account/profile').map(({ body }) => body)).toEqual([
      { name: 'Ada Lovelace' },
    ]);
  });

  it('sets the time zone of a person who has none to that of the browser, once', async () => {
    const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
    api.on('GET /api/session', () => ({ ...sessionOf('admin'), time_zone: '' }));
    api.on('PUT /api/account/profile', () => undefined as never);
    renderPage('/account');
    const zone = () => screen.getByLabelText('Time zone of emails') as HTMLSelectElement;
    await waitFor(() => expect(zone().value).toBe(timeZone));
    expect(api.requestsTo('PUT /api/account/profile').map(({ body }) => body)).toEqual([
      { time_zone: timeZone },
    ]);
  });

  it('shows the role of an operator', async () => {
    api.on('GET /api/session', () => sessionOf('operator'));
    renderPage('/account');
    await screen.findByText('Role');
    await screen.findByText('Operator', { selector: 'dd' });
  });
});
