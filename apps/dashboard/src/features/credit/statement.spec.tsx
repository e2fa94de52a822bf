/** @jest-environment @happy-dom/jest-environment */
import { cleanup, screen } from '@testing-library/react';
import { installApiDouble } from '../../testing/api-double';
import { ORGANIZATION, sessionOf } from '../../testing/fixtures';
import { renderPage } from '../../testing/render-page';

describe('a statement', () => {
  afterEach(cleanup);

  it.each([
    ['month=2026-10', 'month=2026-10&rows=days'],
    ['month=2026-10&view=credits', 'month=2026-10&rows=credits'],
    ['month=2026-10&view=all', 'month=2026-10'],
    ['day=2026-10-05', 'month=2026-10&day=2026-10-05'],
  ])('has the rows of %s in its CSV', async (search, query) => {
    const api = installApiDouble();
    api.on('GET /api/session', () => sessionOf('owner'));
    api.on('GET /api/organizations', () => ({ data: [ORGANIZATION], next_page_token: null }));
    renderPage(`/o/org-1/credit?${search}`);
    const link = await screen.findByRole('link', { name: 'CSV' });
    expect(link.getAttribute('href')).toBe(`/api/organizations/org-1/statement.csv?${query}`);
  });
});
