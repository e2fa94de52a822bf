/** @jest-environment @happy-dom/jest-environment */
import { cleanup, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { installApiDouble, type ApiDouble } from '../../testing/api-double';
import { ORGANIZATION, sessionOf } from '../../testing/fixtures';
import { renderPage } from '../../testing/render-page';

const SIGN_IN = 'POST /api/session';

describe('the sign-in page', () => {
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

  it('returns to the requested page after sign-in', async () => {
    const { router } = renderPage('/o/org-1/limits');
    await screen.findByRole('heading', { name: 'Sign in' });
    api.on(SIGN_IN, () => sessionOf('member'));
    await fill();
    await waitFor(() => expect(router.state.location.pathname).toBe('/o/org-1/limits'));
  });

  it('requires a code when needed, shows that it was wrong, and sends it with the credentials', async () => {
    renderPage('/sign-in');
    api.refuse(SIGN_IN, 401, { code: 'second_factor_required', message: 'A code is needed.' });
    await fill();
    await screen.findByRole('heading', { name: 'Two-factor authentication' });
    expect(screen.queryByRole('alert')).toBeNull();

    api.refuse(SIGN_IN, 401, { code: 'second_factor_refused', message: 'This code is not right.' });
    await userEvent.type(screen.getByLabelText('Code'), ' 123456 ');
    await userEvent.click(screen.getByRole('button', { name: 'Sign in' }));
    await screen.findByText('This code is not right.');
    expect(api.requestsTo(SIGN_IN).at(-1)?.body).toEqual({
      email: 'ada@example.com',
      password: 'correct horse',
      code: '123456',
    });
  });

  it('shows an error with a copyable request id', async () => {
    renderPage('/sign-in');
    api.refuse(SIGN_IN, 401, { code: 'sign_in_refused', message: 'Email or password is wrong.' });
    await fill();
    await screen.findByText('Email or password is wrong.');
    expect(screen.getByText('req-test')).toBeTruthy();
    expect(screen.getByRole('button', { name: 'Copy request ID' })).toBeTruthy();
  });

  it('shows known errors of single sign-on only, and request ids only in their format', async () => {
    const requestId = 'req_01JD3M0V8Z6T5QK2X4W9Y7RBCE';
    renderPage(`/sign-in?error=oidc_denied&request_id=${requestId}`);
    await screen.findByText(/^Sign-in was cancelled/);
    expect(screen.getByText(requestId)).toBeTruthy();
    cleanup();

    renderPage(`/sign-in?error=oidc_denied&request_id=${encodeURIComponent('Call +1 555 0100 to sign in')}`);
    await screen.findByText(/^Sign-in was cancelled/);
    expect(screen.queryByText(/555/)).toBeNull();
    cleanup();

    renderPage('/sign-in?error=Call+555&request_id=req_01JD3M0V8Z6T5QK2X4W9Y7RBCE');
    await screen.findByRole('heading', { name: 'Sign in' });
    expect(screen.queryByRole('alert')).toBeNull();
    expect(screen.queryByText(requestId)).toBeNull();
  });
});
