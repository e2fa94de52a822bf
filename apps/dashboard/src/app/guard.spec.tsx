/** @jest-environment @happy-dom/jest-environment */
import { cleanup, screen } from '@testing-library/react';
import { installApiDouble, type ApiDouble } from '../testing/api-double';
import { ORGANIZATION, sessionOf } from '../testing/fixtures';
import { renderPage } from '../testing/render-page';

describe('an address of a page that is not for the role', () => {
  let api: ApiDouble;

  beforeEach(() => {
    api = installApiDouble();
    api.on('GET /api/session', () => sessionOf('member'));
    api.on('GET /api/organizations', () => ({ data: [ORGANIZATION], next_page_token: null }));
  });
  afterEach(cleanup);

  it.each([
    '/o/org-1/playground',
    '/o/org-1/keys/new',
    '/o/org-1/audit',
    '/operator/organizations',
    '/welcome',
  ])('shows %s to no member, inside of the navigation', async (address) => {
    renderPage(address);
    await screen.findByText('Your role does not show you this page');
    expect(screen.getByRole('navigation', { name: 'Main' })).toBeTruthy();
    expect(screen.queryByRole('button', { name: /Create/ })).toBeNull();
  });

  it('says of an address that there is nothing at it inside of the navigation, too', async () => {
    renderPage('/o/org-1/nothing');
    await screen.findByText('There is nothing at this address');
    expect(screen.getByRole('navigation', { name: 'Main' })).toBeTruthy();
  });
});
