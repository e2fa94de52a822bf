/** @jest-environment @happy-dom/jest-environment */
import { cleanup, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { installApiDouble } from '../testing/api-double';
import { BOUNDS, keyWith, ORGANIZATION, sessionOf } from '../testing/fixtures';
import { renderPage } from '../testing/render-page';

describe('the organization switcher', () => {
  beforeEach(() => {
    const api = installApiDouble();
    api.on('GET /api/session', () => sessionOf('operator'));
    const others = { data: [ORGANIZATION, { ...ORGANIZATION, id: 'org-2', name: 'Other' }] };
    api.on('GET /api/organizations', () => ({ ...others, next_page_token: null }));
    api.on('GET /api/organizations/{organization_id}/keys', () => ({
      data: [keyWith()],
      next_page_token: null,
      bounds: BOUNDS,
    }));
  });
  afterEach(cleanup);

  it.each([
    ['the same page', '/o/org-1/keys', '/o/org-2/keys'],
    ['the management tokens', '/o/org-1/management-tokens', '/o/org-2/management-tokens'],
    ['the content log', '/o/org-1/content-log', '/o/org-2/content-log'],
    ['the list of a detail page', '/o/org-1/keys/key-1', '/o/org-2/keys'],
    ['the overview, from a page outside organizations', '/account', '/o/org-2'],
  ])('navigates to %s of the other organization', async (_what, from, to) => {
    const { router } = renderPage(from);
    const [trigger] = await screen.findAllByRole('button', { name: /Switch organization/ });
    if (!trigger) throw new Error('the switcher is missing');
    await userEvent.click(trigger);
    await userEvent.click(await screen.findByRole('menuitem', { name: 'Other' }));
    await waitFor(() => expect(router.state.location.pathname).toBe(to));
  });
});
