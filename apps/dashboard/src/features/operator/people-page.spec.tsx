/** @jest-environment @happy-dom/jest-environment */
import { cleanup, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { installApiDouble } from '../../testing/api-double';
import { sessionOf } from '../../testing/fixtures';
import { renderPage } from '../../testing/render-page';

const UNLINK = 'POST /api/people/{member_id}/identities/unlink';

describe('the people page', () => {
  afterEach(cleanup);

  it('names the identity provider that an item of the menu unlinks', async () => {
    const api = installApiDouble();
    const at = '2026-11-20T09:00:00.000Z';
    api.on('GET /api/session', () => sessionOf('operator'));
    api.on('GET /api/organizations', () => ({ data: [], next_page_token: null }));
    api.on('GET /api/people', () => ({
      data: [
        {
          id: 'mem-2',
          email: 'grace@example.com',
          name: '',
          role: 'member' as const,
          organizations: [],
          second_factor: false,
          disabled: false,
          identities: ['https://a.example', 'https://b.example'].map((issuer) => ({ issuer, linked_at: at })),
          created_at: at,
          last_seen_at: null,
        },
      ],
      next_page_token: null,
    }));
    api.on(UNLINK, () => undefined);
    renderPage('/operator/people');
    await userEvent.click(await screen.findByRole('button', { name: 'Actions for grace@example.com' }));
    await screen.findByRole('menuitem', { name: 'Unlink https://a.example' });
    await userEvent.click(screen.getByRole('menuitem', { name: 'Unlink https://b.example' }));
    const dialog = await screen.findByRole('dialog', { name: 'Unlink identity provider?' });
    await userEvent.click(within(dialog).getByRole('button', { name: 'Unlink' }));
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
    expect(api.requestsTo(UNLINK).map(({ body }) => body)).toEqual([{ issuer: 'https://b.example' }]);
  });
});
