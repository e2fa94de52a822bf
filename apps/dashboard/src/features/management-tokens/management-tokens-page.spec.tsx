/** @jest-environment @happy-dom/jest-environment */
import { cleanup, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import type { ManagementToken } from '../../api/management-tokens';
import { installApiDouble, type ApiDouble } from '../../testing/api-double';
import { ORGANIZATION, sessionOf } from '../../testing/fixtures';
import { renderPage } from '../../testing/render-page';

const TOKEN: ManagementToken = {
  id: 'mtk-1',
  name: 'nightly report',
  last4: 'x7Qe',
  role: 'member',
  access: 'read',
  state: 'active',
  created_by: 'ada@example.com',
  created_at: '2026-11-01T09:00:00.000Z',
  expires_on: '2026-12-31',
  revoked_at: null,
  last_used_at: null,
};
const SECRET = `mk-gw-${'a'.repeat(43)}`;

describe('management tokens', () => {
  let api: ApiDouble;
  let tokens: readonly ManagementToken[];

  beforeEach(() => {
    api = installApiDouble();
    tokens = [TOKEN];
    api.on('GET /api/organizations', () => ({ data: [ORGANIZATION], next_page_token: null }));
    const list = () => ({ data: [...tokens], next_page_token: null });
    api.on('GET /api/organizations/{organization_id}/management-tokens', list);
    api.on('GET /api/management-tokens', list);
  });
  afterEach(cleanup);

  it('of an organization are created with a role, and shown once', async () => {
    api.on('GET /api/session', () => sessionOf('admin'));
    const create = 'POST /api/organizations/{organization_id}/management-tokens';
    api.on(create, () => ({ token: TOKEN, secret: SECRET }));
    renderPage('/o/org-1/management-tokens');
    await userEvent.click(await screen.findByRole('button', { name: 'Create token' }));
    const dialog = within(screen.getByRole('dialog', { name: 'Create token' }));
    await userEvent.type(dialog.getByLabelText('Name'), ' deploy ');
    await userEvent.selectOptions(dialog.getByLabelText('Access'), 'read_write');
    await userEvent.selectOptions(dialog.getByLabelText('Role'), 'admin');
    await userEvent.click(dialog.getByRole('button', { name: 'Create token' }));
    expect(((await screen.findByLabelText('Token')) as HTMLInputElement).value).toBe(SECRET);
    expect(api.requestsTo(create)[0]?.body).toMatchObject({
      name: 'deploy',
      access: 'read_write',
      role: 'admin',
    });
    await userEvent.click(screen.getByRole('button', { name: 'Done' }));
    await waitFor(() => expect(screen.queryByLabelText('Token')).toBeNull());
  });

  it('of the platform have no role to choose', async () => {
    api.on('GET /api/session', () => sessionOf('operator'));
    api.on('POST /api/management-tokens', () => ({ token: TOKEN, secret: SECRET }));
    renderPage('/operator/management-tokens');
    await userEvent.click(await screen.findByRole('button', { name: 'Create token' }));
    const dialog = within(screen.getByRole('dialog', { name: 'Create token' }));
    expect(dialog.queryByLabelText('Role')).toBeNull();
    await userEvent.type(dialog.getByLabelText('Name'), 'deploy');
    await userEvent.click(dialog.getByRole('button', { name: 'Create token' }));
    await screen.findByLabelText('Token');
    expect(api.requestsTo('POST /api/management-tokens')[0]?.body).not.toHaveProperty('role');
  });

  it('are revoked after a confirmation', async () => {
    api.on('GET /api/session', () => sessionOf('admin'));
    const revoke = 'POST /api/organizations/{organization_id}/management-tokens/{token_id}/revoke';
    api.on(revoke, () => {
      tokens = [{ ...TOKEN, state: 'revoked', revoked_at: '2026-11-02T09:00:00.000Z' }];
      return { token: TOKEN };
    });
    renderPage('/o/org-1/management-tokens');
    await userEvent.click(await screen.findByRole('button', { name: 'Revoke nightly report' }));
    expect(api.requestsTo(revoke)).toHaveLength(0);
    await userEvent.click(await screen.findByRole('button', { name: 'Revoke token' }));
    await waitFor(() => expect(screen.queryByRole('button', { name: 'Revoke nightly report' })).toBeNull());
    expect(api.requestsTo(revoke)[0]?.params).toEqual({ organization_id: 'org-1', token_id: 'mtk-1' });
  });

  it('are hidden from members', async () => {
    api.on('GET /api/session', () => sessionOf('member'));
    renderPage('/o/org-1/management-tokens');
    await screen.findByText('You don’t have access');
    expect(api.requestsTo('GET /api/organizations/{organization_id}/management-tokens')).toHaveLength(0);
  });
});
