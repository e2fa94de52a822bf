/** @jest-environment @happy-dom/jest-environment */
import { cleanup, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import type { Project } from '../../api/projects';
import { installApiDouble, type ApiDouble } from '../../testing/api-double';
import { BOUNDS, keyWith, ORGANIZATION, projectWith, sessionOf, modelList } from '../../testing/fixtures';
import { renderPage } from '../../testing/render-page';

const LIST = 'GET /api/organizations/{organization_id}/projects';
const CREATE = 'POST /api/organizations/{organization_id}/projects';
const UPDATE = 'PUT /api/organizations/{organization_id}/projects/{project_id}';
const ARCHIVE = 'POST /api/organizations/{organization_id}/projects/{project_id}/archive';

describe('projects', () => {
  let api: ApiDouble;
  let projects: readonly Project[];

  beforeEach(() => {
    api = installApiDouble();
    projects = [projectWith()];
    api.on('GET /api/session', () => sessionOf('admin'));
    api.on('GET /api/organizations', () => ({ data: [ORGANIZATION], next_page_token: null }));
    api.on('GET /api/organizations/{organization_id}', () => ({ organization: ORGANIZATION }));
    api.on('GET /api/models', () => modelList());
    api.on(LIST, ({ query }) => {
      const archived = query.get('state') === 'archived';
      const data = projects.filter(({ archived_at }) => (archived_at !== null) === archived);
      return { data, next_page_token: null };
    });
  });
  afterEach(cleanup);

  it('are shown with what they spent of their budgets', async () => {
    renderPage('/o/org-1/projects');
    const row = (await screen.findByRole('link', { name: 'Website' })).closest('tr') as HTMLElement;
    expect(row.textContent).toContain('$12.25of $40.00');
    expect(row.textContent).toContain('$30.00');
  });

  it('do not show an unavailable spend as zero', async () => {
    projects = [projectWith({ spend: null })];
    renderPage('/o/org-1/projects');
    const row = (await screen.findByRole('link', { name: 'Website' })).closest('tr') as HTMLElement;
    expect(row.textContent).not.toContain('$0.00');
    expect(within(row).getAllByText('—')).toHaveLength(4);
  });

  it('are created with budgets at or below those of the organization', async () => {
    api.on(CREATE, () => ({ project: projectWith() }));
    renderPage('/o/org-1/projects');
    await userEvent.click(await screen.findByRole('button', { name: 'Create project' }));
    const dialog = within(screen.getByRole('dialog', { name: 'Create project' }));
    await userEvent.type(dialog.getByLabelText('Name'), ' Shop ');
    await userEvent.type(dialog.getByLabelText(/^Daily budget/), '26');
    await dialog.findByText('Above the organization limit.');
    await userEvent.click(dialog.getByRole('button', { name: 'Create project' }));
    expect(api.requestsTo(CREATE)).toEqual([]);
    await userEvent.clear(dialog.getByLabelText(/^Daily budget/));
    await userEvent.type(dialog.getByLabelText(/^Daily budget/), '2.5');
    await userEvent.click(dialog.getByRole('button', { name: 'Create project' }));
    await screen.findByText('Project created.');
    expect(api.requestsTo(CREATE).map(({ body }) => body)).toEqual([
      {
        name: 'Shop',
        daily_budget_usd: '2.5',
        weekly_budget_usd: null,
        monthly_budget_usd: null,
        total_budget_usd: null,
        budgets: [],
      },
    ]);
  });

  it('are changed with the version that was read', async () => {
    api.on(UPDATE, () => ({ project: projectWith() }));
    renderPage('/o/org-1/projects');
    await userEvent.click(await screen.findByRole('button', { name: 'Edit Website' }));
    const dialog = within(screen.getByRole('dialog', { name: 'Edit project' }));
    await userEvent.clear(dialog.getByLabelText(/^Monthly budget/));
    await userEvent.click(dialog.getByRole('button', { name: 'Save' }));
    await screen.findByText('Project updated.');
    expect(api.requestsTo(UPDATE).map(({ body }) => body)).toEqual([
      {
        ...{
          name: 'Website',
          daily_budget_usd: null,
          weekly_budget_usd: null,
          monthly_budget_usd: null,
          total_budget_usd: null,
          budgets: [],
        },
        version: 1,
      },
    ]);
  });

  it('need a name', async () => {
    renderPage('/o/org-1/projects');
    await userEvent.click(await screen.findByRole('button', { name: 'Create project' }));
    const dialog = within(screen.getByRole('dialog', { name: 'Create project' }));
    await userEvent.click(dialog.getByRole('button', { name: 'Create project' }));
    await dialog.findByText('Enter a name.');
    expect(api.requestsTo(CREATE)).toEqual([]);
  });

  it('can be saved after a conflict with the version of another person', async () => {
    const current = projectWith({ name: 'Their name', version: 2 });
    api.refuse(UPDATE, 409, { code: 'version_conflict', message: 'Changed.', metadata: { current } });
    renderPage('/o/org-1/projects');
    await userEvent.click(await screen.findByRole('button', { name: 'Edit Website' }));
    const dialog = within(screen.getByRole('dialog', { name: 'Edit project' }));
    await userEvent.click(dialog.getByRole('button', { name: 'Save' }));
    await dialog.findByText('Someone else changed this project');
    await userEvent.click(dialog.getByRole('button', { name: 'Discard my changes' }));
    expect(dialog.getByLabelText<HTMLInputElement>('Name').value).toBe('Their name');
    api.on(UPDATE, () => ({ project: current }));
    await userEvent.click(dialog.getByRole('button', { name: 'Save' }));
    await screen.findByText('Project updated.');
    expect(api.requestsTo(UPDATE).at(-1)?.body).toMatchObject({ name: 'Their name', version: 2 });
  });

  it('are archived after a confirmation, and listed apart', async () => {
    api.on(ARCHIVE, () => {
      projects = [projectWith({ archived_at: '2026-11-02T09:00:00.000Z' })];
      return { project: projectWith() };
    });
    renderPage('/o/org-1/projects');
    await userEvent.click(await screen.findByRole('button', { name: 'Archive Website' }));
    expect(api.requestsTo(ARCHIVE)).toHaveLength(0);
    await userEvent.click(screen.getByRole('button', { name: 'Archive project' }));
    await screen.findByText('No projects yet');
    await userEvent.click(screen.getByRole('button', { name: 'Archived' }));
    await screen.findByRole('link', { name: 'Website' });
    expect(screen.queryByRole('button', { name: 'Edit Website' })).toBeNull();
  });

  it('are read only for members', async () => {
    api.on('GET /api/session', () => sessionOf('member'));
    renderPage('/o/org-1/projects');
    await screen.findByRole('link', { name: 'Website' });
    for (const name of ['Create project', 'Edit Website', 'Archive Website']) {
      expect(screen.queryByRole('button', { name })).toBeNull();
    }
  });

  it('are chosen for a key, and bound its budgets', async () => {
    const create = 'POST /api/organizations/{organization_id}/keys';
    api.on(create, () => ({ key: keyWith(), secret: 'sk-gw-new', bounds: BOUNDS }));
    renderPage('/o/org-1/keys/new');
    await userEvent.type(await screen.findByLabelText('Name'), 'web');
    await userEvent.selectOptions(await screen.findByLabelText(/^Project/), 'proj-1');
    await userEvent.type(screen.getByLabelText(/^Monthly budget/), '41');
    await userEvent.click(screen.getByRole('button', { name: 'Create key' }));
    await screen.findByText('Above the project’s budget.');
    await userEvent.clear(screen.getByLabelText(/^Monthly budget/));
    await userEvent.click(screen.getByRole('button', { name: 'Create key' }));
    await screen.findByText('Key created');
    expect(api.requestsTo(create)).toMatchObject([{ body: { project_id: 'proj-1' } }]);
  });

  it('of a key are kept while it is edited', async () => {
    const update = 'PATCH /api/organizations/{organization_id}/keys/{key_id}';
    const key = keyWith({ project_id: 'proj-1', monthly_budget_usd: '20' });
    api.on('GET /api/organizations/{organization_id}/keys/{key_id}', () => ({ key, bounds: BOUNDS }));
    api.on(update, () => ({ key }));
    renderPage('/o/org-1/keys/key-1');
    await screen.findByText('Website');
    await userEvent.click(screen.getByRole('button', { name: 'Edit' }));
    await waitFor(() =>
      expect((screen.getByLabelText(/^Project/) as HTMLSelectElement).value).toBe('proj-1'),
    );
    await userEvent.click(screen.getByRole('button', { name: 'Save' }));
    await screen.findByText('Key updated.');
    expect(api.requestsTo(update)).toMatchObject([{ body: { project_id: 'proj-1' } }]);
  });
});
