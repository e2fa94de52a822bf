/** @jest-environment @happy-dom/jest-environment */
import { cleanup, fireEvent, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { installApiDouble, type ApiDouble } from '../../testing/api-double';
import { ORGANIZATION, sessionOf } from '../../testing/fixtures';
import { renderPage } from '../../testing/render-page';

const SET_ROLE = 'PUT /api/organizations/{organization_id}/members/{member_id}/role';

const MEMBER = {
  id: 'mem-2',
  email: 'grace@example.com',
  name: '',
  role: 'member' as const,
  second_factor: false,
  joined_at: '2026-11-01T09:00:00.000Z',
  last_seen_at: null,
};

describe('the role of a member', () => {
  let api: ApiDouble;

  beforeEach(() => {
    api = installApiDouble();
    api.on('GET /api/session', () => sessionOf('operator'));
    api.on('GET /api/organizations', () => ({ data: [ORGANIZATION], next_page_token: null }));
    api.on('GET /api/organizations/{organization_id}/members', () => ({
      data: [MEMBER],
      next_page_token: null,
    }));
    api.on(SET_ROLE, () => ({ member: MEMBER }));
  });
  afterEach(cleanup);

  it('changes only after a confirmation that names the person and both roles', async () => {
    renderPage('/o/org-1/members');
    const select = await screen.findByLabelText<HTMLSelectElement>('Role of grace@example.com');
    fireEvent.change(select, { target: { value: 'admin' } });
    let dialog = await screen.findByRole('dialog', { name: 'Change role?' });
    expect(dialog.textContent).toContain('grace@example.com changes from Member to Admin.');
    await userEvent.click(within(dialog).getByRole('button', { name: 'Cancel' }));
    expect([select.value, api.requestsTo(SET_ROLE)]).toEqual(['member', []]);

    fireEvent.change(select, { target: { value: 'admin' } });
    dialog = await screen.findByRole('dialog', { name: 'Change role?' });
    await userEvent.click(within(dialog).getByRole('button', { name: 'Change role' }));
    await waitFor(() => expect(api.requestsTo(SET_ROLE)).toMatchObject([{ body: { role: 'admin' } }]));
  });
});
