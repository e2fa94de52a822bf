/** @jest-environment @happy-dom/jest-environment */
import { cleanup, screen } from '@testing-library/react';
import { installApiDouble, type ApiDouble } from '../testing/api-double';
import { ORGANIZATION, sessionOf } from '../testing/fixtures';
import { renderPage } from '../testing/render-page';

describe('a page without permission', () => {
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
  ])('shows a message in place of %s, inside the navigation', async (path) => {
    renderPage(path);
    await screen.findByText('You don’t have access');
    expect(screen.getByRole('navigation', { name: 'Main' })).toBeTruthy();
    expect(screen.queryByRole('button', { name: /Create/ })).toBeNull();
  });

  it('shows that an unknown page was not found, inside the navigation', async () => {
    renderPage('/o/org-1/nothing');
    await screen.findByText('Page not found');
    expect(screen.getByRole('navigation', { name: 'Main' })).toBeTruthy();
  });
});
