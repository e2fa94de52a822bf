/** @jest-environment @happy-dom/jest-environment */
import { cleanup, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { installApiDouble, type ApiDouble } from '../../testing/api-double';
import { ORGANIZATION, sessionOf } from '../../testing/fixtures';
import { renderPage } from '../../testing/render-page';

const SIGN_IN = 'POST /api/session';

describe('signing in', () => {
  let api: ApiDouble;

  beforeEach(() => {
    api = installApiDouble();
    api.refuse('GET /api/session', 401, { code: 'not_signed_in', message: 'Sign in first.' });
    api.on('GET /api/organizations', () => ({ data: [ORGANIZATION], next_page_token: null }));
    api.on('GET /api/organizations/{organization_id}', () => ({ organization: ORGANIZATION }));
  });
  afterEach(cleanup);

  const fill = async () => {
    await userEvent.type(await screen.findByLabelText('Email'), 'ada@example.com');
    await userEvent.type(screen.getByLabelText('Password'), 'correct horse');
    await userEvent.click(screen.getByRole('button', { name: 'Sign in' }));
  };

  it('comes first, and leads to the page that was asked for', async () => {
    const { router } = renderPage('/o/org-1/limits');
    await screen.findByRole('heading', { name: 'Sign in' });
    api.on(SIGN_IN, () => sessionOf('member'));
    await fill();
    await waitFor(() => expect(router.state.location.pathname).toBe('/o/org-1/limits'));
  });

  it('asks for a code where one is needed, says that one was wrong, and sends all three together', async () => {
    renderPage('/sign-in');
    api.refuse(SIGN_IN, 401, { code: 'second_factor_required', message: 'A code is needed.' });
    await fill();
    await screen.findByRole('heading', { name: 'Second factor' });
    expect(screen.queryByRole('alert')).toBeNull();

    api.refuse(SIGN_IN, 401, { code: 'second_factor_refused', message: 'This code is not right.' });
    await userEvent.type(screen.getByLabelText('Code'), ' 123456 ');
    await userEvent.click(screen.getByRole('button', { name: 'Sign in' }));
    await screen.findByText('This code is not right.');
    expect(api.asked(SIGN_IN).at(-1)?.body).toEqual({
      email: 'ada@example.com',
      password: 'correct horse',
      code: '123456',
    });
  });

  it('says what was refused, with the id of the request to be copied', async () => {
    renderPage('/sign-in');
    api.refuse(SIGN_IN, 401, { code: 'sign_in_refused', message: 'Email or password is wrong.' });
    await fill();
    await screen.findByText('Email or password is wrong.');
    expect(screen.getByText('req-of-the-test')).toBeTruthy();
    expect(screen.getByRole('button', { name: 'Copy the request id' })).toBeTruthy();
  });
});
