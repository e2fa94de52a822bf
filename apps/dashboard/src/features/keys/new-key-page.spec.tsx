/** @jest-environment @happy-dom/jest-environment */
import { cleanup, fireEvent, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { installApiDouble, type ApiDouble } from '../../testing/api-double';
import { BOUNDS, keyWith, modelWith, ORGANIZATION, sessionOf, modelList } from '../../testing/fixtures';
import { renderPage } from '../../testing/render-page';

const CREATE = 'POST /api/organizations/{organization_id}/keys';

describe('the page to create a key', () => {
  let api: ApiDouble;

  beforeEach(() => {
    api = installApiDouble();
    api.on('GET /api/session', () => sessionOf('admin'));
    api.on('GET /api/organizations', () => ({ data: [ORGANIZATION], next_page_token: null }));
    api.on('GET /api/organizations/{organization_id}', () => ({ organization: ORGANIZATION }));
  });
  afterEach(cleanup);

  it('shows no code example before the API’s URL is known', async () => {
    api.on(CREATE, () => ({ key: keyWith(), secret: 'sk-gw-new', bounds: BOUNDS }));
    api.hang('GET /api/models');
    renderPage('/o/org-1/keys/new');
    await userEvent.type(await screen.findByLabelText('Name'), 'production');
    await userEvent.click(screen.getByRole('button', { name: 'Create key' }));
    await screen.findByLabelText('Your key');
    expect(screen.queryByText(/your-gateway\.example/)).toBeNull();
  });

  it('shows how clients of the served APIs use the key, with a chat model', async () => {
    api.on(CREATE, () => ({ key: keyWith(), secret: 'sk-gw-new', bounds: BOUNDS }));
    api.on('GET /api/models', () =>
      modelList([{ ...modelWith('acme/embed'), max_output_tokens: 0 }, modelWith('acme/m')], {
        base_url: 'https://gw.example/v1',
        api_types: ['completions', 'messages'],
      }),
    );
    renderPage('/o/org-1/keys/new');
    await userEvent.type(await screen.findByLabelText('Name'), 'production');
    await userEvent.click(screen.getByRole('button', { name: 'Create key' }));
    await userEvent.click(await screen.findByRole('button', { name: 'Claude Code' }));
    await screen.findByText(/ANTHROPIC_BASE_URL='https:\/\/gw\.example'/);
    await screen.findByText(/ANTHROPIC_MODEL='acme\/m'/);
    expect(screen.queryByRole('button', { name: 'Codex' })).toBeNull();
  });

  it('confirms that the only copy of a secret may be lost, and shows examples that the key may run', async () => {
    api.on(CREATE, () => ({
      key: keyWith({ allowed_models: ['acme/b'] }),
      ...{ secret: 'sk-gw-new', bounds: BOUNDS },
    }));
    api.on('GET /api/models', () =>
      modelList([modelWith('acme/a'), modelWith('acme/b')], { base_url: 'https://gw.example/v1' }),
    );
    renderPage('/o/org-1/keys/new');
    await userEvent.type(await screen.findByLabelText('Name'), 'production');
    await userEvent.click(screen.getByRole('button', { name: 'Create key' }));
    const secret = await screen.findByLabelText('Your key');
    expect(document.activeElement).toBe(secret);
    await screen.findByText(/"model": "acme\/b"/);
    await userEvent.click(screen.getByRole('link', { name: 'Keys' }));
    await screen.findByText('Leave without copying the key?');
    await userEvent.click(screen.getByRole('button', { name: 'Cancel' }));
    fireEvent.copy(secret);
    await userEvent.click(screen.getByRole('link', { name: 'Keys' }));
    await waitFor(() => expect(screen.queryByLabelText('Your key')).toBeNull());
  });

  it('sends the form’s values in the API’s format', async () => {
    api.on(CREATE, () => ({ key: keyWith(), secret: 'sk-gw-new', bounds: BOUNDS }));
    renderPage('/o/org-1/keys/new');
    await userEvent.type(await screen.findByLabelText('Name'), ' production ');
    await userEvent.type(screen.getByLabelText(/^Allowed IPs/), '10.0.0.0/8, 2001:db8::1');
    await userEvent.click(screen.getByRole('checkbox', { name: 'JSON in streams' }));
    await userEvent.type(screen.getByLabelText(/^Requests per minute/), '60');
    await userEvent.type(screen.getByLabelText(/^Daily budget/), '5.5');
    await userEvent.type(screen.getByLabelText(/^Monthly budget/), '50');
    await userEvent.type(screen.getByLabelText(/^Total budget/), '75.25');
    await userEvent.click(screen.getByRole('button', { name: 'Create key' }));
    await screen.findByText('Key created');
    expect(api.requestsTo(CREATE).map(({ body }) => body)).toEqual([
      {
        name: 'production',
        scopes: ['chat'],
        json_streaming: true,
        allowed_models: null,
        ip_allowlist: ['10.0.0.0/8', '2001:db8::1'],
        expires_on: null,
        requests_per_minute: 60,
        tokens_per_minute: null,
        concurrency: null,
        daily_budget_usd: '5.5',
        weekly_budget_usd: null,
        monthly_budget_usd: '50',
        total_budget_usd: '75.25',
        budgets: [],
        project_id: null,
      },
    ]);
    expect((screen.getByLabelText('Your key') as HTMLInputElement).value).toBe('sk-gw-new');
  });

  it('validates before it sends', async () => {
    renderPage('/o/org-1/keys/new');
    await screen.findByText(/^Organization limit: 600\./);
    await userEvent.type(screen.getByLabelText(/^Requests per minute/), '601');
    await userEvent.click(screen.getByLabelText('Chat'));
    await userEvent.click(screen.getByRole('button', { name: 'Create key' }));
    await screen.findByText('Above the organization limit.');
    await screen.findByText('Enter a name.');
    await screen.findByText('Select at least one permission.');
    expect(api.requestsTo(CREATE)).toEqual([]);
  });

  it('validates against the ceiling where the organization has no limit', async () => {
    const limits = { ...ORGANIZATION.limits, requests_per_minute: null };
    const ceilings = { ...ORGANIZATION.ceilings, requests_per_minute: 100 };
    api.on('GET /api/organizations/{organization_id}', () => ({
      organization: { ...ORGANIZATION, limits, ceilings },
    }));
    renderPage('/o/org-1/keys/new');
    await screen.findByText(/^Organization limit: 100\./);
    await userEvent.type(screen.getByLabelText('Name'), 'k');
    await userEvent.type(screen.getByLabelText(/^Requests per minute/), '101');
    await userEvent.click(screen.getByRole('button', { name: 'Create key' }));
    await screen.findByText('Above the organization limit.');
    expect(api.requestsTo(CREATE)).toEqual([]);
  });

  it('creates no key for “Selected models” without a model, and names the models that are selected', async () => {
    api.on('GET /api/models', () => modelList(['acme/a', 'acme/b'].map(modelWith)));
    api.on(CREATE, () => ({ key: keyWith(), secret: 'sk-gw-new', bounds: BOUNDS }));
    renderPage('/o/org-1/keys/new');
    await userEvent.type(await screen.findByLabelText('Name'), 'k');
    await userEvent.click(await screen.findByLabelText('Selected models'));
    await userEvent.click(screen.getByRole('button', { name: 'Create key' }));
    await screen.findByText('Select at least one model.');
    expect(api.requestsTo(CREATE)).toEqual([]);
    await userEvent.click(screen.getByLabelText('acme/b'));
    await waitFor(() => expect(screen.queryByText('Select at least one model.')).toBeNull());
    await userEvent.click(screen.getByRole('button', { name: 'Create key' }));
    await screen.findByText('Key created');
    expect(api.requestsTo(CREATE)).toMatchObject([{ body: { allowed_models: ['acme/b'] } }]);
  });

  it('creates no key that has expired already', async () => {
    renderPage('/o/org-1/keys/new');
    await userEvent.type(await screen.findByLabelText('Name'), 'k');
    fireEvent.change(screen.getByLabelText(/^Expiration date/), { target: { value: '0001-01-01' } });
    await userEvent.click(screen.getByRole('button', { name: 'Create key' }));
    await screen.findByText('Choose today or a later date.');
    expect(api.requestsTo(CREATE)).toEqual([]);
  });

  it('shows a server error at the field that it names', async () => {
    api.refuse(CREATE, 400, {
      code: 'invalid',
      message: 'ip_allowlist[0]: not an address.',
      param: 'ip_allowlist[0]',
    });
    renderPage('/o/org-1/keys/new');
    await userEvent.type(await screen.findByLabelText('Name'), 'k');
    await userEvent.click(screen.getByRole('button', { name: 'Create key' }));
    const field = screen.getByLabelText(/^Allowed IPs/);
    await screen.findByText('IP allowlist, entry 1: not an address.');
    expect(field.getAttribute('aria-invalid')).toBe('true');
  });
});
