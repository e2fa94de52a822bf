/** @jest-environment @happy-dom/jest-environment */
import { cleanup, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { installApiDouble, type ApiDouble } from '../testing/api-double';
import { ORGANIZATION, sessionOf } from '../testing/fixtures';
import { renderPage } from '../testing/render-page';

const DISABLE = 'PUT /api/people/{member_id}/disabled';
const CONFIRM = 'POST /api/session/confirm';
const UNCONFIRMED = [403, { code: 'confirmation_required', message: 'Confirm first.' }] as const;
const PERSON = {
  id: 'mem-2',
  email: 'bob@example.com',
  name: '',
  role: 'member' as const,
  organizations: [],
  second_factor: true,
  disabled: false,
  identities: [],
  created_at: '2026-11-01T09:00:00.000Z',
  last_seen_at: null,
};

describe('a sensitive change', () => {
  let api: ApiDouble;

  const start = async (session = sessionOf('operator')) => {
    api = installApiDouble();
    api.on('GET /api/session', () => session);
    api.on('GET /api/organizations', () => ({ data: [ORGANIZATION], next_page_token: null }));
    api.on('GET /api/people', () => ({ data: [PERSON], next_page_token: null }));
    api.refuse(DISABLE, ...UNCONFIRMED);
    renderPage('/operator/people');
    await userEvent.click(await screen.findByRole('button', { name: 'Actions for bob@example.com' }));
    await userEvent.click(await screen.findByRole('menuitem', { name: 'Disable account' }));
    await userEvent.click(await screen.findByRole('button', { name: 'Disable' }));
    await screen.findByRole('dialog', { name: 'Confirm it’s you' });
  };
  afterEach(cleanup);

  it('continues after the password was confirmed', async () => {
    await start();
    api.refuse(CONFIRM, 401, { code: 'sign_in_refused', message: 'The password is incorrect.' });
    await userEvent.type(screen.getByLabelText('Password'), 'wrong');
    await userEvent.click(screen.getByRole('button', { name: 'Confirm' }));
    await screen.findByText('The password is incorrect.');
    expect(api.requestsTo(DISABLE)).toHaveLength(1);

    api.on(CONFIRM, () => undefined);
    api.on(DISABLE, () => undefined);
    await userEvent.click(screen.getByRole('button', { name: 'Confirm' }));
    await waitFor(() => expect(api.requestsTo(DISABLE)).toHaveLength(2));
    expect(api.requestsTo(DISABLE)[1]?.body).toEqual({ disabled: true });
    await screen.findByText('Account disabled.');
  });

  it('needs a code where the account has a second factor', async () => {
    await start({ ...sessionOf('operator'), second_factor: true });
    api.on(CONFIRM, () => undefined);
    api.on(DISABLE, () => undefined);
    await userEvent.type(screen.getByLabelText('Code'), '123456');
    await userEvent.click(screen.getByRole('button', { name: 'Confirm' }));
    await waitFor(() => expect(api.requestsTo(DISABLE)).toHaveLength(2));
    expect(api.requestsTo(CONFIRM)[0]?.body).toEqual({ code: '123456' });
  });

  it('is not made when the person cancels', async () => {
    await start();
    const cancels = screen.getAllByRole('button', { name: 'Cancel', hidden: true });
    await userEvent.click(cancels.at(-1) as HTMLElement);
    await waitFor(() => expect(screen.queryByRole('dialog', { name: 'Confirm it’s you' })).toBeNull());
    await screen.findByText('Confirm first.');
    expect(api.requestsTo(DISABLE)).toHaveLength(1);
  });
});

describe('a required second factor', () => {
  afterEach(cleanup);

  it('leads to its setup before anything else', async () => {
    const api = installApiDouble();
    api.on('GET /api/session', () => ({ ...sessionOf('admin'), second_factor_setup_required: true }));
    api.on('GET /api/organizations', () => ({ data: [ORGANIZATION], next_page_token: null }));
    const { router } = renderPage('/o/org-1/keys');
    await screen.findByText('Set up two-factor authentication to continue');
    expect(router.state.location.pathname).toBe('/account');
    await router.navigate({ to: '/o/$organizationId/keys', params: { organizationId: 'org-1' } });
    await waitFor(() => expect(router.state.location.pathname).toBe('/account'));
  });
});
