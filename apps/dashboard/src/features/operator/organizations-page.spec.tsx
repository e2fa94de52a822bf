/** @jest-environment @happy-dom/jest-environment */
import { cleanup, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { installApiDouble, pageOf } from '../../testing/api-double';
import { ORGANIZATION, sessionOf } from '../../testing/fixtures';
import { renderPage } from '../../testing/render-page';

const ORGANIZATIONS = Array.from({ length: 250 }, (_, index) => ({
  ...ORGANIZATION,
  id: `org-${250 - index}`,
  name: `Customer ${250 - index}`,
}));

describe('the list of organizations', () => {
  beforeEach(() => {
    const api = installApiDouble();
    api.on('GET /api/session', () => sessionOf('operator'));
    api.on('GET /api/organizations', ({ query }) =>
      pageOf(ORGANIZATIONS, query, ({ id, name }) => `${name} ${id}`),
    );
    api.on('GET /api/organizations/{organization_id}', ({ params }) => ({
      organization: { ...ORGANIZATION, id: params['organization_id'] ?? '' },
    }));
  });
  afterEach(() => {
    cleanup();
    localStorage.clear();
  });

  it('searches all organizations, not only the loaded ones', async () => {
    const { router } = renderPage('/operator/organizations');
    // The switcher names an organization, too.
    const listed = async (name: string) => within(await screen.findByRole('table')).queryByText(name);
    await waitFor(async () => expect(await listed('Customer 250')).not.toBeNull());
    expect(await listed('Customer 1')).toBeNull();
    await userEvent.type(screen.getByLabelText('Search by name or ID'), 'customer 1');
    await waitFor(() => expect(router.state.location.search).toEqual({ find: 'customer 1' }));
    await waitFor(async () => expect(await listed('Customer 250')).toBeNull());
    await userEvent.click(await screen.findByText('Load more'));
    await waitFor(async () => expect(await listed('Customer 1')).not.toBeNull());
  });

  it('finds every organization from the switcher and the command palette', async () => {
    const { router } = renderPage('/o/org-250/limits');
    const [switcher] = await screen.findAllByRole('button', { name: /Switch organization/ });
    if (!switcher) throw new Error('the switcher is missing');
    await userEvent.click(switcher);
    await userEvent.click(await screen.findByRole('menuitem', { name: 'Search all organizations' }));
    await userEvent.type(await screen.findByRole('combobox', { name: 'Search or jump to' }), 'customer 7');
    await userEvent.click(await screen.findByRole('option', { name: /^Customer 7(?!\d)/ }));
    await waitFor(() => expect(router.state.location.pathname).toBe('/o/org-7'));
  });

  it('returns to the last organization, however old it is', async () => {
    localStorage.setItem('last-organization', 'org-3');
    const { router } = renderPage('/');
    await waitFor(() => expect(router.state.location.pathname).toBe('/o/org-3'));
  });
});
