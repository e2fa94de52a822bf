/** @jest-environment @happy-dom/jest-environment */
import type { ApiType } from '@gateway/base';
import { cleanup, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { installApiDouble, type ApiDouble } from '../../testing/api-double';
import { BOUNDS, keyWith, ORGANIZATION, sessionOf, modelList } from '../../testing/fixtures';
import { renderPage } from '../../testing/render-page';

const GENERATIONS = 'GET /api/organizations/{organization_id}/generations';
const REFUSED = 'GET /api/organizations/{organization_id}/refused-requests';

const GROUPS = 'GET /api/organizations/{organization_id}/usage/groups';

const NO_USAGE = {
  ...{ requests: 1, errors: 0, cancelled: 0, refused: 0, prompt_tokens: 0, cached_tokens: 0 },
  ...{ cache_write_tokens: 0, cache_write_1h_tokens: 0, image_tokens: 0, completion_tokens: 0 },
  ...{ reasoning_tokens: 0, cost_usd: '0', spend_usd: '0', duration: null, time_to_first_token: null },
};

const FAILED = {
  id: 'gen-1',
  created_at: '2026-11-20T12:00:00.000Z',
  model_id: 'acme/m-1',
  key_id: 'key-1',
  request_id: 'req_1',
  external_user: null,
  tags: {},
  api_type: 'completions' as const,
  status: 'failed' as const,
  finish_reason: 'error',
  error_code: 'upstream_error',
  streamed: false,
  cost_usd: '0',
  charged_usd: '0',
  duration_ms: 4,
  time_to_first_token_ms: null,
  prompt_tokens: 0,
  completion_tokens: 0,
};
const REFUSED_REQUEST = {
  request_id: 'req_2',
  refused_at: '2026-11-20T12:00:00.000Z',
  key_id: 'key-1',
  model: 'no/such',
  error_code: 'model_not_found',
  error_message: "The model 'no/such' does not exist.",
  api_type: 'completions' as const,
};

describe('the generations page', () => {
  let api: ApiDouble;

  beforeEach(() => {
    api = installApiDouble();
    api.on('GET /api/session', () => sessionOf('admin'));
    api.on('GET /api/organizations', () => ({ data: [ORGANIZATION], next_page_token: null }));
    serving('completions');
    api.on('GET /api/organizations/{organization_id}/keys', () => ({
      data: [keyWith()],
      next_page_token: null,
      bounds: BOUNDS,
    }));
    respondWith();
    api.on(REFUSED, () => ({ data: [REFUSED_REQUEST] }));
  });
  afterEach(cleanup);

  const serving = (...apiTypes: ApiType[]) =>
    api.on('GET /api/models', () => modelList([], { api_types: apiTypes }));

  const respondWith = (...generations: readonly (typeof FAILED)[]) =>
    api.on(GENERATIONS, () => ({ data: [...generations], next_page_token: null, searched_until: null }));

  it('shows the error of a failed generation', async () => {
    respondWith(FAILED);
    renderPage('/o/org-1/generations');
    const row = (await screen.findByRole('link', { name: 'acme/m-1' })).closest('tr') as HTMLElement;
    expect(within(row).getAllByText('Failed').length).toBeGreaterThan(0);
    expect(within(row).getAllByText('upstream_error').length).toBeGreaterThan(0);
    expect(api.requestsTo(REFUSED)).toEqual([]);
  });

  it('lists refused requests by status, with their error, model, key and request ID', async () => {
    renderPage('/o/org-1/generations');
    await userEvent.selectOptions(await screen.findByLabelText('Status'), 'Refused');
    const table = await screen.findByRole('table', { name: 'Refused requests' });
    for (const text of [
      REFUSED_REQUEST.error_code,
      REFUSED_REQUEST.error_message,
      'no/such',
      'production …x7Qe',
      'req_2',
    ]) {
      await within(table).findByText(text);
    }
    await screen.findByText(/the latest 20 of each error/);
  });

  it('filters by a model that is no longer in the catalogue, for the chosen period', async () => {
    api.on(GROUPS, () => ({
      data: [{ ...NO_USAGE, id: 'acme/removed', other_values: false }],
      next_page_token: null,
      total: 1,
    }));
    renderPage('/o/org-1/generations?from=2026-11-01T10:00Z&to=2026-11-02T10:00Z');
    const model = await screen.findByLabelText('Model');
    await within(model).findByText('acme/removed');
    expect(Object.fromEntries(api.requestsTo(GROUPS)[0]?.query ?? [])).toMatchObject({
      start: '2026-11-01T00:00:00.000Z',
      end: '2026-11-03T00:00:00.000Z',
      group_by: 'model',
    });
  });

  it('links the model and the key of a refused request', async () => {
    renderPage('/o/org-1/generations?status=refused');
    const hrefOf = async (name: string) =>
      decodeURIComponent((await screen.findByRole('link', { name })).getAttribute('href') ?? '');
    expect(await hrefOf('no/such')).toBe('/o/org-1/generations?status=refused&model=no/such');
    expect(await hrefOf('production …x7Qe')).toBe('/o/org-1/keys/key-1');
  });

  it.each([
    ['daily_budget_exceeded', 'daily budget of $5 of this API key', 'key', '/o/org-1/keys/key-1'],
    ['insufficient_credits', 'monthly budget of $5 of this end user', 'key', '/o/org-1/keys/key-1'],
    ['insufficient_credits', '6-hour budget of $1.50 of this project', 'project', '/o/org-1/projects'],
    [
      'insufficient_credits',
      'monthly budget of $500 of this organization',
      'organization',
      '/o/org-1/limits',
    ],
  ])('links to where the budget of %s is changed: the %s', async (code, budget, owner, href) => {
    const message = `The ${budget} does not cover this request: $5 is used or reserved today.`;
    api.on(REFUSED, () => ({ data: [{ ...REFUSED_REQUEST, error_code: code, error_message: message }] }));
    renderPage('/o/org-1/generations?status=refused');
    const link = await screen.findByRole('link', { name: `Change the ${owner}’s budget` });
    expect(link.getAttribute('href')).toBe(href);
    cleanup();
    api.on('GET /api/session', () => sessionOf('member'));
    renderPage('/o/org-1/generations?status=refused');
    await screen.findByText(message);
    expect(screen.queryByRole('link', { name: /Change the/ })).toBeNull();
  });

  it('offers no filter that does not apply to refused requests', async () => {
    serving('completions', 'messages');
    const labels = ['From (UTC)', 'To (UTC)', 'End user', 'Min cost (USD)', 'Max cost (USD)'];
    renderPage('/o/org-1/generations');
    const status = await screen.findByLabelText('Status');
    await screen.findByLabelText('API');
    for (const label of labels) screen.getByLabelText(label);
    await userEvent.selectOptions(status, 'Refused');
    await screen.findByRole('table', { name: 'Refused requests' });
    for (const label of labels) expect(screen.queryByLabelText(label)).toBeNull();
    screen.getByLabelText('Model');
    await userEvent.selectOptions(screen.getByLabelText('API'), 'Messages');
    await waitFor(() => expect(api.requestsTo(REFUSED).at(-1)?.query.get('api_type')).toBe('messages'));
  });

  it('filters by the API of the requests, where the deployment serves several', async () => {
    renderPage('/o/org-1/generations');
    await screen.findByLabelText('Status');
    expect(screen.queryByLabelText('API')).toBeNull();
    cleanup();
    serving('completions', 'messages');
    renderPage('/o/org-1/generations');
    await userEvent.selectOptions(await screen.findByLabelText('API'), 'Messages');
    await screen.findByText('No matches');
    expect(api.requestsTo(GENERATIONS).at(-1)?.query.get('api_type')).toBe('messages');
  });

  it('finds a refused request by its ID', async () => {
    renderPage('/o/org-1/generations?find=req_2');
    await screen.findByRole('table', { name: 'Refused requests' });
    expect(screen.queryByText('No matches')).toBeNull();
    expect(api.requestsTo(REFUSED).map(({ query }) => query.get('request_id'))).toEqual(['req_2']);
    expect(api.requestsTo(GENERATIONS).map(({ query }) => query.get('search'))).toContain('req_2');
  });

  it('says which refused requests a search finds when there is no match', async () => {
    api.on(REFUSED, () => ({ data: [] }));
    renderPage('/o/org-1/generations?find=req_unknown');
    await screen.findByText('No matches');
    await screen.findByText(/Of refused requests, the latest 20 of each error are found/);
  });

  it('says so when nothing was refused, and when the list cannot be loaded', async () => {
    api.on(REFUSED, () => ({ data: [] }));
    renderPage('/o/org-1/generations?status=refused');
    await screen.findByText('No refused requests');
    cleanup();
    api.refuse(REFUSED, 400, { code: 'invalid_request', message: 'Not this time.' });
    renderPage('/o/org-1/generations?status=refused');
    await screen.findByText('Couldn’t load refused requests');
  });
});
