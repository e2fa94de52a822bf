/** @jest-environment @happy-dom/jest-environment */
import { cleanup, screen } from '@testing-library/react';
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

  it('shows the role of an operator', async () => {
    api.on('GET /api/session', () => sessionOf('operator'));
    renderPage('/account');
    await screen.findByText('Role');
    await screen.findByText('Operator', { selector: 'dd' });
  });
});
