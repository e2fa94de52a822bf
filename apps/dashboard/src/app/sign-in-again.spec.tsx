/** @jest-environment @happy-dom/jest-environment */
import { BACKGROUND_HEADER } from '@gateway/dashboard-contract/client';
import { act, cleanup, fireEvent, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { installApiDouble, type ApiDouble } from '../testing/api-double';
import { ORGANIZATION, sessionOf } from '../testing/fixtures';
import { renderPage } from '../testing/render-page';

const SIGN_IN = 'POST /api/session';
const LIMITS = 'PUT /api/organizations/{organization_id}/limits';
const READ = 'GET /api/organizations/{organization_id}';
const ENDED = [401, { code: 'not_signed_in', message: 'Sign in first.' }] as const;

afterEach(() => void jest.useRealTimers());

describe('a session that expires while a page is open', () => {
  let api: ApiDouble;

  beforeEach(async () => {
    api = installApiDouble();
    api.on('GET /api/session', () => sessionOf('admin'));
    api.on('GET /api/organizations', () => ({ data: [ORGANIZATION], next_page_token: null }));
    api.on('GET /api/sign-in-options', () => ({
      ...{ oidc: null, password_reset_by_email: false, operator_contact: null },
    }));
    api.on(READ, () => ({ organization: ORGANIZATION }));
  });
  afterEach(cleanup);

  const changeLimits = async (text: string) => {
    await userEvent.click(await screen.findByRole('button', { name: 'Edit' }));
    const field = screen.getByLabelText('Requests per minute');
    await userEvent.clear(field);
    await userEvent.type(field, text);
  };
  const save = () => userEvent.click(screen.getByRole('button', { name: 'Save', hidden: true }));

  it('opens a sign-in dialog over the page, keeps form input, and does not retry writes', async () => {
    const { router } = renderPage('/o/org-1/limits');
    await changeLimits('77');
    api.refuse(LIMITS, ...ENDED);
    await save();
    await screen.findByRole('dialog', { name: 'Sign in again' });
    expect(screen.getByText('ada@example.com', { exact: false, selector: '[role=dialog] *' })).toBeTruthy();

    api.refuse(SIGN_IN, 401, { code: 'sign_in_refused', message: 'The password is wrong.' });
    await userEvent.type(screen.getByLabelText('Password'), 'wrong');
    await userEvent.click(screen.getByRole('button', { name: 'Sign in' }));
    await screen.findByText('The password is wrong.');
    api.refuse(SIGN_IN, 401, { code: 'second_factor_required', message: 'A code is needed.' });
    await userEvent.click(screen.getByRole('button', { name: 'Sign in' }));
    await userEvent.type(await screen.findByLabelText('Code'), ' 123456');
    api.on(SIGN_IN, () => sessionOf('admin'));
    api.on(LIMITS, () => ({ organization: { ...ORGANIZATION, version: 4 } }));
    await userEvent.click(screen.getByRole('button', { name: 'Sign in' }));

    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
    expect(api.requestsTo(SIGN_IN).at(-1)?.body).toEqual({
      email: 'ada@example.com',
      password: 'wrong',
      code: '123456',
    });
    await screen.findByText('Your session had expired, so nothing was saved. Try again.');
    expect(api.requestsTo(LIMITS)).toHaveLength(1);
    expect(router.state.location.pathname).toBe('/o/org-1/limits');
    expect(screen.getByLabelText<HTMLInputElement>('Requests per minute').value).toBe('77');
    await save();
    await waitFor(() => expect(api.requestsTo(LIMITS)).toHaveLength(2));
    expect(api.requestsTo(LIMITS)[1]?.body).toMatchObject({ requests_per_minute: 77 });
  });

  it('resumes reads after the sign-in', async () => {
    renderPage('/o/org-1/limits');
    await screen.findByRole('button', { name: 'Edit' });
    api.refuse('GET /api/organizations/{organization_id}/members', ...ENDED);
    await userEvent.click(screen.getAllByRole('link', { name: 'Members' })[0] as HTMLElement);
    await screen.findByRole('dialog', { name: 'Sign in again' });
    expect(screen.queryByRole('alert')).toBeNull();
    api.on('GET /api/organizations/{organization_id}/members', () => ({ data: [], next_page_token: null }));
    api.on(SIGN_IN, () => sessionOf('admin'));
    await userEvent.type(screen.getByLabelText('Password'), 'correct horse');
    await userEvent.click(screen.getByRole('button', { name: 'Sign in' }));
    await waitFor(() =>
      expect(api.requestsTo('GET /api/organizations/{organization_id}/members')).toHaveLength(2),
    );
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  });

  it('detects a sign-in in another tab', async () => {
    renderPage('/o/org-1/limits');
    await changeLimits('77');
    api.refuse(LIMITS, ...ENDED);
    api.refuse('GET /api/session', ...ENDED);
    await save();
    await screen.findByRole('dialog', { name: 'Sign in again' });
    window.dispatchEvent(new Event('focus'));
    api.on('GET /api/session', () => sessionOf('admin'));
    window.dispatchEvent(new Event('focus'));
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
    expect(screen.getByLabelText<HTMLInputElement>('Requests per minute').value).toBe('77');
  });

  it('keeps a form during a transient error', async () => {
    const { queryClient } = renderPage('/o/org-1/limits');
    await changeLimits('77');
    api.refuse(READ, 503, { code: 'unavailable', message: 'Try again.' });
    const before = api.requestsTo(READ).length;
    await act(() => queryClient.invalidateQueries());
    expect(api.requestsTo(READ).length).toBeGreaterThan(before);
    expect(screen.getByLabelText<HTMLInputElement>('Requests per minute').value).toBe('77');
  });

  it('is noticed without any input, so a forgotten page hides', async () => {
    jest.useFakeTimers({ advanceTimers: true });
    renderPage('/o/org-1/limits');
    await screen.findByRole('button', { name: 'Edit' });
    api.refuse('GET /api/session', ...ENDED);
    await act(() => jest.advanceTimersByTimeAsync(60_000));
    await screen.findByRole('dialog', { name: 'Sign in again' });
  });
});

describe('a request', () => {
  afterEach(cleanup);

  it('counts as background once no person has used the page for a minute', async () => {
    jest.useFakeTimers({ advanceTimers: true });
    const api = installApiDouble();
    api.on('GET /api/session', () => sessionOf('admin'));
    api.on('GET /api/organizations', () => ({ data: [ORGANIZATION], next_page_token: null }));
    api.on(READ, () => ({ organization: ORGANIZATION }));
    const { queryClient } = renderPage('/o/org-1/limits');
    const edit = await screen.findByRole('button', { name: 'Edit' });
    const isBackground = async () => {
      await act(() => queryClient.invalidateQueries());
      return api.requestsTo(READ).at(-1)?.headers.has(BACKGROUND_HEADER);
    };
    fireEvent.pointerDown(edit);
    expect(await isBackground()).toBe(false);
    await act(() => jest.advanceTimersByTimeAsync(60_001));
    expect(await isBackground()).toBe(true);
    fireEvent.keyDown(edit, { key: 'Tab' });
    expect(await isBackground()).toBe(false);
  });
});
