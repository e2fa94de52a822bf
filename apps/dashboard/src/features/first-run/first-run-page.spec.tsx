/** @jest-environment @happy-dom/jest-environment */
import { cleanup, screen, waitFor } from '@testing-library/react';
import { installApiDouble, type ApiDouble } from '../../testing/api-double';
import { BOUNDS, ORGANIZATION, sessionOf } from '../../testing/fixtures';
import { renderPage } from '../../testing/render-page';

const LIVE = 'GET /api/organizations/{organization_id}/live';

describe('the setup page', () => {
  let api: ApiDouble;

  beforeEach(() => {
    api = installApiDouble();
    api.on('GET /api/session', () => sessionOf('operator'));
    api.on('GET /api/organizations', () => ({ data: [ORGANIZATION], next_page_token: null }));
    api.on('GET /api/organizations/{organization_id}/keys', () => ({
      data: [],
      next_page_token: null,
      bounds: BOUNDS,
    }));
    api.on('GET /api/organizations/{organization_id}/generations', () => ({
      data: [],
      next_page_token: null,
      searched_until: null,
    }));
  });
  afterEach(cleanup);

  it('does not offer to add credit before the balance is known', async () => {
    api.hang(LIVE);
    renderPage('/welcome');
    await waitFor(() => expect(api.requestsTo(LIVE)).toHaveLength(1));
    expect(screen.queryByRole('button', { name: 'Add credit' })).toBeNull();
  });

  it('shows an error when the progress is unknown', async () => {
    api.refuse(LIVE, 500, { code: 'internal_error', message: 'Something failed.' });
    renderPage('/welcome');
    await screen.findByText('Couldn’t load setup progress');
    expect(screen.queryByRole('button', { name: 'Add credit' })).toBeNull();
    expect(screen.getByRole('button', { name: 'Try again' })).toBeTruthy();
  });
});
