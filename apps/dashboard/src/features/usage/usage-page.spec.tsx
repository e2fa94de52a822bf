/** @jest-environment @happy-dom/jest-environment */
import { cleanup, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import type { UsageMetrics } from '../../api/usage';
import { installApiDouble, type ApiDouble } from '../../testing/api-double';
import { BOUNDS, keyWith, ORGANIZATION, sessionOf, modelList, modelWith } from '../../testing/fixtures';
import { renderPage } from '../../testing/render-page';

const USAGE = 'GET /api/organizations/{organization_id}/usage';
const GROUPS = 'GET /api/organizations/{organization_id}/usage/groups';
const ERRORS = 'GET /api/organizations/{organization_id}/usage/errors';

const metrics = (changes: Partial<UsageMetrics> = {}): UsageMetrics => ({
  requests: 0,
  errors: 0,
  cancelled: 0,
  refused: 0,
  prompt_tokens: 0,
  cached_tokens: 0,
  cache_write_tokens: 0,
  cache_write_1h_tokens: 0,
  image_tokens: 0,
  completion_tokens: 0,
  reasoning_tokens: 0,
  cost_usd: '0',
  spend_usd: '0',
  duration: null,
  time_to_first_token: null,
  ...changes,
});

type TokensOfPrompt = 'cached_tokens' | 'cache_write_tokens' | 'cache_write_1h_tokens';

describe('the usage page', () => {
  let api: ApiDouble;

  beforeEach(() => {
    api = installApiDouble();
    api.on('GET /api/session', () => sessionOf('admin'));
    api.on('GET /api/organizations', () => ({ data: [ORGANIZATION], next_page_token: null }));
    api.on('GET /api/models', () => modelList());
    api.on('GET /api/organizations/{organization_id}/keys', () => ({
      data: [keyWith()],
      next_page_token: null,
      bounds: BOUNDS,
    }));
    api.on(ERRORS, () => ({ data: [] }));
  });
  afterEach(cleanup);

  const respondWith = (...models: readonly (readonly [string, Partial<UsageMetrics>])[]) => {
    api.on(GROUPS, () => ({
      data: models.map(([id, changes]) => ({ ...metrics(changes), id, other_values: false })),
      next_page_token: null,
      total: models.length,
    }));
    api.on(USAGE, ({ query }) => {
      const [start = '', end = ''] = [query.get('start') ?? '', query.get('end') ?? ''];
      const points = models.map(([model_id, changes]) => ({
        ...metrics(changes),
        start,
        model_id,
        key_id: null,
        project_id: null,
        value: null,
      }));
      const sum = (name: 'requests' | 'errors' | 'refused' | 'prompt_tokens' | TokensOfPrompt) =>
        points.reduce((total, point) => total + point[name], 0);
      return {
        timezone: 'UTC' as const,
        granularity: 'day' as const,
        start,
        end,
        totals: metrics({
          requests: sum('requests'),
          errors: sum('errors'),
          refused: sum('refused'),
          prompt_tokens: sum('prompt_tokens'),
          cached_tokens: sum('cached_tokens'),
          cache_write_tokens: sum('cache_write_tokens'),
          cache_write_1h_tokens: sum('cache_write_1h_tokens'),
        }),
        data: points,
      };
    });
  };
  /** Without its chart. */
  const renderUsage = () =>
    renderPage('/o/org-1/usage').queryClient.setQueryData(['usage-chart-code'], { UsageChart: () => null });
  const figure = async (name: string) => (await screen.findByText(name, { selector: 'dt' })).parentElement;

  it('shows how many input tokens were read from the cache, and written to it for any lifetime', async () => {
    respondWith([
      'acme/m-1',
      {
        requests: 1,
        prompt_tokens: 9_000,
        cached_tokens: 4_000,
        cache_write_tokens: 300,
        cache_write_1h_tokens: 20,
      },
    ]);
    renderUsage();
    expect((await figure('Input tokens'))?.textContent).toBe(
      'Input tokens9,0004,000 cached, 320 written to cache',
    );
  });

  it('filters by a model that is no longer in the catalogue', async () => {
    respondWith(['acme/removed', { requests: 1 }]);
    api.on('GET /api/models', () => modelList([modelWith('acme/current')]));
    renderUsage();
    const options = async () =>
      within(await screen.findByLabelText('Model'))
        .getAllByRole('option')
        .map((option) => option.textContent);
    await waitFor(async () =>
      expect(await options()).toEqual(['All models', 'acme/current', 'acme/removed']),
    );
  });

  it('shows the totals below the rows', async () => {
    respondWith(['acme/m-1', { requests: 8, errors: 2 }], ['acme/m-2', { requests: 1_000 }]);
    renderUsage();
    const table = await screen.findByRole('table', { name: 'Usage by model' });
    const total = within(table).getAllByRole('row').at(-1)!;
    const cells = within(total).getAllByRole('cell');
    expect(cells.slice(0, 4).map((cell) => cell.textContent)).toEqual(['Total', '$0.00', '1,008', '2']);
  });

  it('shows the error rate of generations, and refused requests apart from it', async () => {
    respondWith(['acme/m-1', { requests: 8, errors: 2, refused: 3 }], ['', { refused: 4 }]);
    api.on(ERRORS, () => ({
      data: [
        { code: 'model_not_found', refused: 7, failed: 0 },
        { code: 'upstream_error', refused: 0, failed: 2 },
      ],
    }));
    renderUsage();
    expect((await figure('Errors'))?.textContent).toBe('Errors225% of requests');
    expect((await figure('Refused'))?.textContent).toBe('Refused7No generation');
    const table = await screen.findByRole('table', { name: 'Errors by code' });
    const rows = within(table).getAllByRole('row').slice(1);
    expect(
      rows.map((row) =>
        within(row)
          .getAllByRole('cell')
          .map((cell) => cell.textContent),
      ),
    ).toEqual([
      ['model_not_found', '7', '0'],
      ['upstream_error', '0', '2'],
    ]);
    expect(within(rows[0]!).getByRole('link', { name: '7' }).getAttribute('href')).toContain(
      'status=refused',
    );
    expect(within(rows[1]!).getByRole('link', { name: '2' }).getAttribute('href')).toContain('status=failed');
    await screen.findByRole('link', { name: 'Unknown model' });
  });

  it('links to the generations of a row with the period and the other filters', async () => {
    respondWith(['acme/m-1', { requests: 1 }], ['', { refused: 1 }]);
    api.on(ERRORS, () => ({ data: [{ code: 'upstream_error', refused: 3, failed: 2 }] }));
    const period = 'range=custom&from=2026-11-18&to=2026-11-20';
    renderPage(`/o/org-1/usage?${period}&key=key-1&measure=errors`).queryClient.setQueryData(
      ['usage-chart-code'],
      { UsageChart: () => null },
    );
    const kept = 'from=2026-11-18T00:00Z&to=2026-11-20T23:59Z';
    const searchOf = async (name: string) =>
      decodeURIComponent((await screen.findByRole('link', { name })).getAttribute('href') ?? '').split(
        '?',
      )[1];
    expect(await searchOf('acme/m-1')).toBe(`${kept}&key=key-1&model=acme/m-1`);
    expect(await searchOf('Unknown model')).toBe(`${kept}&key=key-1&status=refused`);
    expect(await searchOf('3')).toBe(`${kept}&key=key-1&status=refused&error=upstream_error`);
    expect(await searchOf('2')).toBe(`${kept}&key=key-1&status=failed&error=upstream_error`);
    cleanup();

    renderPage(`/o/org-1/usage?${period}&split=project`).queryClient.setQueryData(['usage-chart-code'], {
      UsageChart: () => null,
    });
    expect(await searchOf('No project')).toBe(`${period}&split=key&project=none`);
  });

  it('filters by the API of the requests, where the deployment serves several', async () => {
    respondWith(['acme/m-1', { requests: 1 }]);
    api.on('GET /api/models', () => modelList([], { api_types: ['completions', 'messages'] }));
    renderPage('/o/org-1/usage');
    await userEvent.selectOptions(await screen.findByLabelText('API'), 'Messages');
    for (const endpoint of [USAGE, GROUPS, ERRORS] as const)
      await waitFor(() => expect(api.requestsTo(endpoint).at(-1)?.query.get('api_type')).toBe('messages'));
  });

  it('says that the errors by code cannot be loaded', async () => {
    respondWith(['acme/m-1', { requests: 1 }]);
    api.refuse(ERRORS, 500, { code: 'internal', message: 'Something failed.' });
    renderUsage();
    await screen.findByText('Couldn’t load errors by code');
  });

  it('says that a custom range ends before it starts', async () => {
    respondWith(['acme/m-1', { requests: 1 }]);
    renderPage('/o/org-1/usage?range=custom&from=2026-11-20&to=2026-11-19').queryClient.setQueryData(
      ['usage-chart-code'],
      { UsageChart: () => null },
    );
    await screen.findByText('“From” is after “To”, so the last 30 days are shown.');
  });

  it.each([
    ['to=2026-11-20', 'Choose “From”; until then the last 30 days are shown.'],
    ['from=2020-01-01&to=2026-11-20', 'At most 366 days are shown: the last ones until “To”.'],
  ])('says how a custom range of %s differs from its fields', async (fields, note) => {
    respondWith(['acme/m-1', { requests: 1 }]);
    renderPage(`/o/org-1/usage?range=custom&${fields}`).queryClient.setQueryData(['usage-chart-code'], {
      UsageChart: () => null,
    });
    await screen.findByText(note);
  });

  it('shows a period in which every request was refused', async () => {
    respondWith(['', { refused: 4 }]);
    renderUsage();
    expect((await figure('Errors'))?.textContent).toBe('Errors0');
    expect((await figure('Refused'))?.textContent).toContain('4');
    expect(screen.queryByText('No requests in this period')).toBeNull();
  });

  it('sorts and pages groups on the server, and requests the largest series only', async () => {
    respondWith();
    api.on(GROUPS, ({ query }) => ({
      data: [
        {
          ...metrics({ requests: 1 }),
          id: query.get('page_token') === '1' ? 'acme/m-2' : 'acme/m-1',
          other_values: false,
        },
      ],
      next_page_token: query.get('page_token') === '1' ? null : '1',
      total: 10_000,
    }));
    api.on(USAGE, ({ query }) => ({
      ...{
        timezone: 'UTC' as const,
        granularity: 'day' as const,
        totals: metrics({ requests: 1 }),
        data: [],
      },
      ...{ start: query.get('start') ?? '', end: query.get('end') ?? '' },
    }));
    renderUsage();
    await screen.findByText('1 of 10,000');
    const last = () => Object.fromEntries(api.requestsTo(GROUPS).at(-1)?.query ?? []);
    expect(last()).toMatchObject({ sort: 'spend', order: 'desc', group_by: 'model' });
    expect(Object.fromEntries(api.requestsTo(USAGE)[0]?.query ?? [])).toMatchObject({
      top: '6',
      top_by: 'spend',
    });
    await userEvent.click(screen.getByRole('button', { name: 'Load more' }));
    await screen.findByRole('link', { name: 'acme/m-2' });
    expect(last()).toMatchObject({ page_token: '1' });
    await userEvent.click(screen.getByRole('button', { name: 'Input tokens' }));
    await waitFor(() => expect(last()).toMatchObject({ sort: 'prompt_tokens', page_token: '' }));
  });

  it('groups by end user and by declared tags, without filters and latencies', async () => {
    const group = (id: string, isOther = false) => ({
      ...metrics({ requests: 1 }),
      ...{ id, other_values: isOther },
    });
    respondWith(['alice', { requests: 3 }]);
    api.on(GROUPS, () => ({
      data: [group('alice'), group(''), group('', true)],
      next_page_token: null,
      total: 3,
    }));
    api.on('GET /api/organizations/{organization_id}', () => ({
      organization: { ...ORGANIZATION, usage_tags: ['customer_id'] },
    }));
    renderPage('/o/org-1/usage?range=7d&model=acme/m-1&measure=p95').queryClient.setQueryData(
      ['usage-chart-code'],
      { UsageChart: () => null },
    );
    await userEvent.click(await screen.findByRole('button', { name: 'By end user' }));
    const table = await screen.findByRole('table', { name: 'Usage by end user' });
    const sent = (endpoint: typeof USAGE | typeof GROUPS) =>
      Object.fromEntries(api.requestsTo(endpoint).at(-1)?.query ?? []);
    expect(sent(USAGE)).toMatchObject({ split_by: 'user', top_by: 'spend' });
    expect(sent(USAGE)).not.toHaveProperty('model_id');
    expect(sent(GROUPS)).not.toHaveProperty('model_id');
    expect(screen.queryByLabelText('Model')).toBeNull();
    expect(screen.queryByRole('button', { name: 'p95 latency' })).toBeNull();
    const link = await within(table).findByRole('link', { name: 'alice' });
    expect(decodeURIComponent(link.getAttribute('href') ?? '')).toContain('user=alice');
    within(table).getByText('No end user');
    within(table).getByText('Others');

    await userEvent.click(screen.getByRole('button', { name: 'By tag customer_id' }));
    await screen.findByRole('table', { name: 'Usage by tag customer_id' });
    expect(sent(GROUPS)).toMatchObject({ group_by: 'tag', tag: 'customer_id' });
    expect(sent(USAGE)).toMatchObject({ split_by: 'tag', tag: 'customer_id' });
    const tagged = await screen.findByRole('link', { name: 'alice' });
    expect(decodeURIComponent(tagged.getAttribute('href') ?? '')).toContain('tag=customer_id:alice');
    const csv = screen.getByRole('link', { name: /CSV/ }).getAttribute('href') ?? '';
    expect(csv).toContain('split_by=tag&tag=customer_id');
  });
});
