/** @jest-environment @happy-dom/jest-environment */
import { cleanup, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { installApiDouble, type ApiDouble } from '../testing/api-double';
import {
  BOUNDS,
  keyWith,
  modelList,
  modelWith,
  ORGANIZATION,
  projectWith,
  sessionOf,
} from '../testing/fixtures';
import { renderPage } from '../testing/render-page';

const PLATFORM = ['platform:organizations', 'platform:people'];

describe('the command palette', () => {
  let api: ApiDouble;

  beforeEach(() => {
    api = installApiDouble();
    api.on('GET /api/session', () => sessionOf('member'));
    api.on('GET /api/organizations', () => ({ data: [ORGANIZATION], next_page_token: null }));
    api.on('GET /api/organizations/{organization_id}', () => ({ organization: ORGANIZATION }));
    api.on('GET /api/organizations/{organization_id}/keys', () => ({
      data: [keyWith()],
      next_page_token: null,
      bounds: BOUNDS,
    }));
  });
  afterEach(cleanup);

  it('opens with a shortcut, finds a page by part of its name, and navigates to it', async () => {
    const { router } = renderPage('/o/org-1/keys');
    await screen.findByRole('link', { name: 'production' });
    await userEvent.keyboard('{Control>}k{/Control}');
    await userEvent.type(await screen.findByRole('combobox', { name: 'Search or jump to' }), 'lim');
    expect(screen.getByRole('option', { selected: true }).textContent).toContain('Limits');
    await userEvent.keyboard('{Enter}');
    await waitFor(() => expect(router.state.location.pathname).toBe('/o/org-1/limits'));
  });

  it('finds keys on every page, and searches generations by id', async () => {
    const { router } = renderPage('/o/org-1/limits');
    await screen.findByRole('heading', { name: 'Limits' });
    await userEvent.keyboard('{Control>}k{/Control}');
    const box = await screen.findByRole('combobox', { name: 'Search or jump to' });
    await userEvent.type(box, 'produ');
    await screen.findByRole('option', { name: /production/ });
    await userEvent.clear(box);
    await userEvent.type(box, 'gen-01KA4711');
    expect(screen.getByRole('option', { selected: true }).textContent).toContain('gen-01KA4711');
    await userEvent.keyboard('{Enter}');
    await waitFor(() => expect(router.state.location.pathname).toBe('/o/org-1/generations'));
    expect(router.state.location.search).toEqual({ find: 'gen-01KA4711' });
  });

  it('finds projects, members and models', async () => {
    api.on('GET /api/session', () => sessionOf('developer'));
    api.on('GET /api/models', () => modelList([modelWith('acme/shop-1')]));
    api.on('GET /api/organizations/{organization_id}/projects', () => ({
      ...{ data: [projectWith({ name: 'Web shop' })], next_page_token: null },
    }));
    api.on('GET /api/organizations/{organization_id}/members', ({ query }) => ({
      data: [
        {
          ...{ id: 'mem-2', email: `${query.get('search')}@example.com`, name: '', role: 'member' as const },
          ...{ second_factor: false, joined_at: '2026-11-01T09:00:00.000Z', last_seen_at: null },
        },
      ],
      next_page_token: null,
    }));
    const { router } = renderPage('/o/org-1/limits');
    await screen.findByRole('heading', { name: 'Limits' });
    const find = async (name: RegExp) => {
      await userEvent.keyboard('{Control>}k{/Control}');
      await userEvent.type(await screen.findByRole('combobox', { name: 'Search or jump to' }), 'shop');
      await userEvent.click(await screen.findByRole('option', { name }));
    };
    await find(/Web shop\s*Project/);
    await waitFor(() => expect(router.state.location.pathname).toBe('/o/org-1/projects/proj-1'));
    await find(/shop@example.com\s*Member/);
    await waitFor(() => expect(router.state.location.search).toEqual({ find: 'shop@example.com' }));
    await find(/acme\/shop-1\s*Model/);
    await waitFor(() => expect(router.state.location.pathname).toBe('/o/org-1/playground'));
    expect(router.state.location.search).toEqual({ model: 'acme/shop-1' });
  });

  it('finds a pasted key by its last characters, and sends it nowhere', async () => {
    const { router } = renderPage('/o/org-1/limits');
    await screen.findByRole('heading', { name: 'Limits' });
    await userEvent.keyboard('{Control>}k{/Control}');
    await userEvent.click(await screen.findByRole('combobox', { name: 'Search or jump to' }));
    await userEvent.paste('sk-gw-secret-of-the-key-x7Qe');
    await userEvent.click(await screen.findByRole('option', { name: /production/ }));
    await waitFor(() => expect(router.state.location.pathname).toBe('/o/org-1/keys/key-1'));
    expect(JSON.stringify(api.addresses())).not.toContain('secret');
    expect(router.history.location.href).not.toContain('secret');
  });

  it('shortens a key in an address that was opened with it', async () => {
    const { router } = renderPage('/o/org-1/generations?find=sk-gw-secret-of-the-key-x7Qe');
    await waitFor(() => expect(router.state.location.search).toEqual({ find: 'x7Qe' }));
  });

  it('offers only permitted actions', async () => {
    renderPage('/o/org-1/keys');
    await screen.findByRole('link', { name: 'production' });
    await userEvent.keyboard('{Control>}k{/Control}');
    await screen.findByRole('option', { name: /Keys/ });
    for (const forbidden of [/Create key/, /Operator/, /Playground/]) {
      expect(screen.queryByRole('option', { name: forbidden })).toBeNull();
    }
  });

  it('finds requests, keys and people of all organizations for operators, and names the organization', async () => {
    const organization = { id: 'org-2', name: 'Umbrella' };
    api.on('GET /api/session', () => ({ ...sessionOf('operator'), permissions: PLATFORM }));
    api.on('GET /api/operator/requests', ({ query }) => ({
      data:
        query.get('id') === 'req-4711'
          ? [
              {
                ...{ organization, request_id: 'req-4711', generation_id: 'gen-1' },
                ...{ at: '2026-11-28T09:00:00.000Z', error_code: 'upstream_error' },
              },
            ]
          : [],
    }));
    api.on('GET /api/operator/keys', ({ query }) => ({
      data:
        query.get('text') === 'x9Zz'
          ? [{ id: 'key-9', name: 'batch', last4: 'x9Zz', state: 'active' as const, organization }]
          : [],
    }));
    api.on('GET /api/people', () => ({ data: [], next_page_token: null }));
    const { router } = renderPage('/o/org-1/limits');
    await screen.findByRole('heading', { name: 'Limits' });
    await userEvent.keyboard('{Control>}k{/Control}');
    const box = await screen.findByRole('combobox', { name: 'Search or jump to' });
    await userEvent.type(box, 'x9Zz');
    expect((await screen.findByRole('option', { name: /batch/ })).textContent).toContain('Umbrella');
    await userEvent.clear(box);
    await userEvent.type(box, 'req-4711');
    await userEvent.click(await screen.findByRole('option', { name: /Generation of Umbrella/ }));
    await waitFor(() => expect(router.state.location.pathname).toBe('/o/org-2/generations/gen-1'));
  });

  it('offers actions to those who may, and opens their dialogs', async () => {
    api.on('GET /api/session', () => sessionOf('admin'));
    renderPage('/o/org-1/keys');
    await screen.findByRole('link', { name: 'production' });
    await userEvent.keyboard('{Control>}k{/Control}');
    await userEvent.type(await screen.findByRole('combobox', { name: 'Search or jump to' }), 'invite');
    expect(screen.queryByRole('option', { name: /Add credit/ })).toBeNull();
    await userEvent.keyboard('{Enter}');
    expect(await screen.findByRole('dialog', { name: 'Invite member' })).toBeTruthy();
  });

  it('shows the shortcuts with "?"', async () => {
    renderPage('/o/org-1/keys');
    await screen.findByRole('link', { name: 'production' });
    await userEvent.keyboard('?');
    const dialog = await screen.findByRole('dialog', { name: 'Keyboard shortcuts' });
    expect(dialog.textContent).toContain('g k');
  });

  it('navigates with "g" and a second key, except while typing', async () => {
    const { router } = renderPage('/o/org-1/keys');
    const find = await screen.findByLabelText('Search by name, ID or last four characters');
    await userEvent.type(find, 'gl');
    expect(router.state.location.pathname).toBe('/o/org-1/keys');
    find.blur();
    await userEvent.keyboard('gl');
    await waitFor(() => expect(router.state.location.pathname).toBe('/o/org-1/limits'));
  });
});
