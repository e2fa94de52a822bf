/** @jest-environment @happy-dom/jest-environment */
import { cleanup, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { installApiDouble, type ApiDouble } from '../../testing/api-double';
import { keyLabel } from '../../api/keys';
import { BOUNDS, keyWith, ORGANIZATION, projectWith, sessionOf } from '../../testing/fixtures';
import { renderPage } from '../../testing/render-page';

const LOG = 'GET /api/audit';

describe('the audit log', () => {
  let api: ApiDouble;

  beforeEach(() => {
    api = installApiDouble();
    api.on('GET /api/session', () => sessionOf('operator'));
    api.on('GET /api/organizations', () => ({ data: [ORGANIZATION], next_page_token: null }));
    api.on('GET /api/organizations/{organization_id}', () => ({ organization: ORGANIZATION }));
    api.on(LOG, () => ({
      data: [
        {
          id: 'aud-1',
          created_at: '2026-11-20T09:00:00.000Z',
          actor: { id: 'mem-1', label: 'ada@example.com', ip_address: '127.0.0.1' },
          organization_id: 'org-1',
          action: 'key.update',
          target: 'key-1',
          details: { changed: { requests_per_minute: { before: null, after: 1200 } } },
        },
      ],
      next_page_token: null,
    }));
  });
  afterEach(cleanup);

  const lastQuery = () => Object.fromEntries(api.requestsTo(LOG).at(-1)?.query ?? []);

  it('shows the action and both values of a change', async () => {
    renderPage('/operator/audit');
    const row = (await screen.findByText('Key updated')).closest('tr') as HTMLElement;
    expect(row.textContent).toContain('Requests per minute: None → 1,200');
  });

  const entryOf = (changes: object) => ({
    ...{ id: 'aud-1', created_at: '2026-11-20T09:00:00.000Z', organization_id: 'org-1', details: {} },
    ...{ actor: { id: 'mem-1', label: 'ada@example.com', ip_address: '' }, action: '', target: '' },
    ...changes,
  });

  it.each([
    ['key.revoke', 'key-9', {}, 'key-9', '/o/org-1/keys/key-9'],
    ['project.create', 'proj-9', { name: 'Shop' }, 'Shop', '/o/org-1/projects/proj-9'],
    ['organization.set_limits', 'org-1', {}, 'org-1', '/o/org-1/limits'],
    ['organization.map_domain', 'example.com', {}, 'example.com', '/o/org-1/members'],
    ['credit.add', 'crd-1', {}, 'crd-1', '/o/org-1/credit?view=credits'],
    ['credit_alert.set', 'org-1', {}, 'org-1', '/o/org-1/credit'],
    [
      'membership.remove',
      'mem-2',
      { email: 'bob@example.com' },
      'bob@example.com',
      '/o/org-1/members?find=bob%40',
    ],
    ['content_log.read', 'gen-1', {}, 'gen-1', '/o/org-1/generations/gen-1'],
    ['management_token.create', 'mtk-1', { name: 'ci' }, 'ci', '/o/org-1/management-tokens'],
  ])('links what %s changed to its page', async (action, target, details, name, href) => {
    api.on(LOG, () => ({ data: [entryOf({ action, target, details })], next_page_token: null }));
    renderPage('/operator/audit');
    const link = await screen.findByRole('link', { name });
    expect(link.getAttribute('href')).toContain(href);
  });

  it.each([
    ['model.disable', 'acme/m-1', '/operator/catalogue?find=acme%2Fm-1'],
    ['catalogue.publish', 'version 3', '/operator/catalogue?tab=history'],
    ['dead_letter.discard', 'generation.finished 7', '/operator/settlement'],
    ['member.disable', 'mem-2', '/operator/people'],
  ])('links what %s changed on the platform', async (action, target, href) => {
    const entry = entryOf({ action, target, organization_id: null });
    api.on(LOG, () => ({ data: [entry], next_page_token: null }));
    renderPage('/operator/audit');
    const link = await screen.findByRole('link', { name: target });
    expect(link.getAttribute('href')).toBe(href);
  });

  it('names the keys and projects of an organization', async () => {
    const entries = ['key-1', 'proj-1'].map((target) =>
      entryOf({ id: target, action: 'key.update', target }),
    );
    api.on('GET /api/organizations/{organization_id}/audit', () => ({
      data: entries,
      next_page_token: null,
    }));
    api.on('GET /api/organizations/{organization_id}/keys', () => ({
      ...{ data: [keyWith()], next_page_token: null, bounds: BOUNDS },
    }));
    api.on('GET /api/organizations/{organization_id}/projects', () => ({
      ...{ data: [projectWith()], next_page_token: null },
    }));
    renderPage('/o/org-1/audit');
    await screen.findByRole('link', { name: keyLabel(keyWith()) });
    await screen.findByRole('link', { name: 'Website' });
  });

  it('filters by resource and by actor, in the URL', async () => {
    const { router } = renderPage('/operator/audit');
    await userEvent.click(await screen.findByRole('link', { name: 'All changes of key-1' }));
    await waitFor(() => expect(lastQuery()).toMatchObject({ target: 'key-1' }));
    expect(screen.getByLabelText<HTMLInputElement>('Resource ID').value).toBe('key-1');
    const [person] = await screen.findAllByRole('link', { name: 'ada@example.com' });
    await userEvent.click(person as HTMLElement);
    await waitFor(() => expect(lastQuery()).toMatchObject({ target: 'key-1', actor_id: 'mem-1' }));
    expect(router.state.location.search).toEqual({ target: 'key-1', actor: 'mem-1' });
    // The filter shows the email, not the id.
    expect(screen.getByLabelText<HTMLInputElement>('Actor').value).toBe('ada@example.com');
  });

  it('finds a person to filter by, among the members of an organization or all people', async () => {
    const at = '2026-11-01T09:00:00.000Z';
    const bob = {
      id: 'mem-2',
      email: 'bob@example.com',
      name: 'Bob',
      second_factor: false,
      last_seen_at: null,
    };
    const person = { ...bob, created_at: at, organizations: [], disabled: false, identities: [] };
    api.on('GET /api/people', () => ({
      data: [{ ...person, role: 'member' as const }],
      next_page_token: null,
    }));
    api.on('GET /api/organizations/{organization_id}/members', () => ({
      data: [{ ...bob, joined_at: at, role: 'admin' as const }],
      next_page_token: null,
    }));
    api.on('GET /api/organizations/{organization_id}/audit', () => ({ data: [], next_page_token: null }));
    for (const path of ['/operator/audit', '/o/org-1/audit']) {
      const { router } = renderPage(path);
      await userEvent.type(await screen.findByLabelText('Actor'), 'bob');
      await screen.findByText('Bob <bob@example.com>');
      await userEvent.keyboard('{Enter}');
      await waitFor(() => expect(router.state.location.search).toEqual({ actor: 'mem-2' }));
      await waitFor(() =>
        expect(screen.getByLabelText<HTMLInputElement>('Actor').value).toBe('Bob <bob@example.com>'),
      );
      cleanup();
    }
    expect(api.requestsTo('GET /api/people').at(-1)?.query.get('search')).toBe('bob');
  });

  it('offers categories of the platform only in its own log', async () => {
    api.on('GET /api/organizations/{organization_id}/audit', () => ({ data: [], next_page_token: null }));
    const categories = async () =>
      [...(await screen.findByLabelText<HTMLSelectElement>('Category')).options].map(({ text }) => text);
    renderPage('/o/org-1/audit');
    expect(await categories()).toContain('Projects');
    expect(await categories()).not.toContain('Dead letters');
    cleanup();
    renderPage('/operator/audit');
    expect(await categories()).toEqual(expect.arrayContaining(['Projects', 'Dead letters', 'Catalogue']));
  });

  it('shows the organization of each entry of the platform, and lists only one on request', async () => {
    const OF_ORGANIZATION = 'GET /api/organizations/{organization_id}/audit';
    api.on(OF_ORGANIZATION, () => ({ data: [], next_page_token: null }));
    const { router } = renderPage('/operator/audit');
    const [only] = await screen.findAllByRole('link', { name: 'Only this one' });
    await userEvent.click(only as HTMLElement);
    await waitFor(() => expect(api.requestsTo(OF_ORGANIZATION)).toHaveLength(1));
    expect(router.state.location.search).toEqual({ organization: 'org-1' });
    const [csv] = screen.getAllByRole<HTMLAnchorElement>('link', { name: 'CSV' });
    expect(csv?.href).toContain('/api/organizations/org-1/audit.csv');
  });

  it('maps inclusive UTC days to times, and clears all filters', async () => {
    const { router } = renderPage('/operator/audit?since=2026-11-01&until=2026-11-02&action=key.');
    await screen.findByText('Key updated');
    expect(lastQuery()).toMatchObject({
      action: 'key.',
      since: '2026-11-01T00:00:00.000Z',
      until: '2026-11-03T00:00:00.000Z',
    });
    await userEvent.click(screen.getByRole('button', { name: 'Clear filters' }));
    await waitFor(() => expect(router.state.location.search).toEqual({}));
  });
});
