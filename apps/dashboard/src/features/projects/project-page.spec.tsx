/** @jest-environment @happy-dom/jest-environment */
import { cleanup, screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { installApiDouble, type ApiDouble } from '../../testing/api-double';
import { BOUNDS, keyWith, ORGANIZATION, projectWith, sessionOf } from '../../testing/fixtures';
import { renderPage } from '../../testing/render-page';

const LIST = 'GET /api/organizations/{organization_id}/projects';
const KEYS = 'GET /api/organizations/{organization_id}/keys';

describe('the page of a project', () => {
  let api: ApiDouble;
  let project: ReturnType<typeof projectWith> | undefined;

  beforeEach(() => {
    api = installApiDouble();
    project = projectWith({
      budgets: [{ period: 'window', hours: 5, model: 'acme/*', amount_usd: '8' }],
    });
    api.on('GET /api/session', () => sessionOf('admin'));
    api.on('GET /api/organizations', () => ({ data: [ORGANIZATION], next_page_token: null }));
    api.on('GET /api/organizations/{organization_id}', () => ({ organization: ORGANIZATION }));
    api.on(LIST, () => ({ data: project ? [project] : [], next_page_token: null }));
    api.on(KEYS, () => ({
      ...{ data: [keyWith({ project_id: 'proj-1', name: 'web' })], next_page_token: null },
      ...{ bounds: BOUNDS, total: 1 },
    }));
    const spend = {
      ...{ today_usd: '24', this_week_usd: '24', this_month_usd: '495', total_usd: '900', held_usd: '0' },
    };
    api.on('GET /api/organizations/{organization_id}/budget-spend', () => ({
      spend,
      windows: [],
      models: [],
    }));
    api.on('GET /api/organizations/{organization_id}/projects/{project_id}/budget-spend', () => ({
      ...{ spend, windows: [] },
      models: [{ ...spend, model: 'acme/*', windows: [{ hours: 5, spent_usd: '2', held_usd: '1' }] }],
    }));
  });
  afterEach(cleanup);

  it('shows its spend, every budget that applies with its use, and its keys', async () => {
    renderPage('/o/org-1/projects/proj-1');
    await screen.findByRole('heading', { name: 'Website' });
    expect(screen.getByText('Spent this month').parentElement?.textContent).toContain('$12.25of $40.00');
    await screen.findByRole('meter', { name: 'Monthly budget: This project' });
    const factOf = (name: string) => screen.getByText(name).parentElement?.textContent;
    expect(factOf('Monthly budget')).toContain('This project: $40.00 $12.25 spent (30.6%), $27.75 left.');
    expect(factOf('Monthly budget')).toContain('all keys together: $500.00 Reached first');
    await screen.findByRole('meter', { name: '5-hour budget for acme/*: This project' });
    expect(factOf('5-hour budget for acme/*')).toContain('$2.00 spent (25%), $1.00 held by running requests');
    const keys = within(await screen.findByRole('table', { name: 'Active keys' }));
    expect(keys.getByRole('link', { name: 'web' }).getAttribute('href')).toBe('/o/org-1/keys/key-1');
    const wanted = Object.fromEntries(api.requestsTo(KEYS)[0]?.query ?? []);
    expect(wanted).toMatchObject({ project_id: 'proj-1', state: 'active' });
  });

  it('is linked by the lists of projects and keys', async () => {
    renderPage('/o/org-1/projects');
    await userEvent.click(await screen.findByRole('link', { name: 'Website' }));
    await screen.findByRole('heading', { name: 'Website' });
    cleanup();
    renderPage('/o/org-1/keys');
    const link = await screen.findByRole('link', { name: 'Website' });
    expect(link.getAttribute('href')).toBe('/o/org-1/projects/proj-1');
  });

  it('offers changes to those who may make them, and none once it is archived', async () => {
    renderPage('/o/org-1/projects/proj-1');
    await userEvent.click(await screen.findByRole('button', { name: 'Edit' }));
    await screen.findByRole('dialog', { name: 'Edit project' });
    cleanup();
    project = projectWith({ archived_at: '2026-11-02T09:00:00.000Z' });
    renderPage('/o/org-1/projects/proj-1');
    await screen.findByText('Archived', { selector: 'h1 *' });
    expect(screen.queryByRole('button', { name: 'Edit' })).toBeNull();
    cleanup();
    api.on('GET /api/session', () => sessionOf('member'));
    project = projectWith();
    renderPage('/o/org-1/projects/proj-1');
    await screen.findByRole('heading', { name: 'Website' });
    expect(screen.queryByRole('button', { name: 'Archive Website' })).toBeNull();
  });

  it('is not found without the project', async () => {
    project = undefined;
    renderPage('/o/org-1/projects/proj-1');
    await screen.findByText('Page not found');
  });
});
