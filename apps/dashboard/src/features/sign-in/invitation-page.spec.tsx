/** @jest-environment @happy-dom/jest-environment */
import { cleanup, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { installApiDouble } from '../../testing/api-double';
import { sessionOf } from '../../testing/fixtures';
import { renderPage } from '../../testing/render-page';

afterEach(cleanup);

it('accepts the invitation of a new person with a name', async () => {
  const api = installApiDouble();
  api.refuse('GET /api/session', 401, { code: 'not_signed_in', message: 'Sign in first.' });
  api.on('POST /api/invitations/look-up', () => ({
    ...{ organization: { name: 'Acme' }, email: 'ada@example.com', role: 'developer' as const },
    ...{ expires_at: '2026-12-01T09:00:00.000Z', has_account: false },
  }));
  api.on('POST /api/invitations/accept', () => sessionOf('developer'));
  renderPage('/invitation');
  await userEvent.type(await screen.findByLabelText(/^Your name/), 'Ada Lovelace');
  await userEvent.type(screen.getByLabelText('Choose a password'), 'staple and tomato');
  await userEvent.click(screen.getByRole('button', { name: 'Accept invitation' }));
  await waitFor(() =>
    expect(api.requestsTo('POST /api/invitations/accept').map(({ body }) => body)).toEqual([
      { password: 'staple and tomato', name: 'Ada Lovelace' },
    ]),
  );
});
