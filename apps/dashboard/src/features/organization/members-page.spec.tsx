/** @jest-environment @happy-dom/jest-environment */
import { cleanup, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { installApiDouble, pageOf } from '../../testing/api-double';
import { ORGANIZATION, sessionOf } from '../../testing/fixtures';
import { renderPage } from '../../testing/render-page';

const MEMBERS = Array.from({ length: 250 }, (_, index) => ({
  id: `mem-${250 - index}`,
  email: `person${250 - index}@example.com`,
  name: '',
  role: 'member' as const,
  second_factor: false,
  joined_at: '2026-11-01T09:00:00.000Z',
  last_seen_at: null,
}));

describe('the list of members', () => {
  beforeEach(() => {
    const api = installApiDouble();
    api.on('GET /api/session', () => sessionOf('member'));
    api.on('GET /api/organizations', () => ({ data: [ORGANIZATION], next_page_token: null }));
    api.on('GET /api/organizations/{organization_id}/members', ({ query }) =>
      pageOf(MEMBERS, query, ({ id, email }) => `${email} ${id}`),
    );
    api.on('GET /api/organizations/{organization_id}/domains', () => ({ data: [] }));
  });
  afterEach(cleanup);

  it('searches all members, not only the loaded ones', async () => {
    const { router } = renderPage('/o/org-1/members');
    await screen.findByText('person250@example.com');
    expect(screen.queryByText('person1@example.com')).toBeNull();
    await userEvent.type(screen.getByLabelText('Search by name, email or ID'), 'PERSON1@');
    await screen.findByText('person1@example.com');
    expect(router.state.location.search).toEqual({ find: 'PERSON1@' });
    expect(screen.queryByText('person250@example.com')).toBeNull();
  });

  it('loads members beyond the first page', async () => {
    renderPage('/o/org-1/members');
    await screen.findByText('person250@example.com');
    for (let pages = 1; pages < 3; pages += 1) {
      await userEvent.click(await screen.findByText('Load more'));
    }
    await waitFor(() => expect(screen.queryByText('Load more')).toBeNull());
    expect(screen.getByRole('table', { name: 'Members' }).getAttribute('aria-rowcount')).toBe('251');
  });
});
