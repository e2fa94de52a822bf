/** @jest-environment @happy-dom/jest-environment */
import type { Result } from '@gateway/dashboard-contract/client';
import { cleanup, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { installApiDouble, pageOf, type ApiDouble } from '../../testing/api-double';
import { ORGANIZATION, sessionOf } from '../../testing/fixtures';
import { renderPage } from '../../testing/render-page';

const ORGANIZATIONS = Array.from({ length: 250 }, (_, index) => ({
  ...ORGANIZATION,
  id: `org-${250 - index}`,
  name: `Customer ${250 - index}`,
}));

type Margin = Result<'GET /api/operator/usage'>['margin'];

const marginOf = (spend: string, cost: string, margin: string): Margin => ({
  spend_usd: spend,
  provider_cost_usd: cost,
  margin_usd: margin,
});

const figuresOf = (
  spend: string,
  requests: number,
  errors: number,
  balance: string,
  margin: Margin = null,
) => ({
  balance_usd: balance,
  usage: {
    last_30_days: { spend_usd: spend, requests, errors },
    margin,
    last_used_at: '2026-11-20T12:00:00.000Z',
  },
});

describe('the list of organizations', () => {
  let api: ApiDouble;

  beforeEach(() => {
    api = installApiDouble();
    api.on('GET /api/session', () => sessionOf('operator'));
    api.on('GET /api/organizations', ({ query }) =>
      pageOf(ORGANIZATIONS, query, ({ id, name }) => `${name} ${id}`),
    );
    api.on('GET /api/operator/organizations', ({ query }) =>
      pageOf(
        ORGANIZATIONS.map((one) => ({ ...one, ...figuresOf('1', 4, 1, '2') })),
        query,
        ({ id, name }) => `${name} ${id}`,
      ),
    );
    api.on('GET /api/operator/usage', () => ({
      today: { requests: 2, errors: 0, spend_usd: '0.5' },
      last_30_days: { requests: 1_000, errors: 15, spend_usd: '1234.5' },
      margin: marginOf('987.6', '246.9', '740.7'),
      ...{ days: [], models: [], providers: [] },
    }));
    api.on('GET /api/organizations/{organization_id}', ({ params }) => ({
      organization: { ...ORGANIZATION, id: params['organization_id'] ?? '' },
    }));
  });
  afterEach(() => {
    cleanup();
    localStorage.clear();
  });

  it('searches all organizations, not only the loaded ones', async () => {
    const { router } = renderPage('/operator/organizations');
    // The switcher names an organization, too.
    const listed = (name: string) => screen.queryByText(name, { selector: 'table *' });
    await waitFor(() => expect(listed('Customer 250')).not.toBeNull());
    expect(listed('Customer 1')).toBeNull();
    await userEvent.type(screen.getByLabelText('Search by name or ID'), 'customer 1');
    await waitFor(() => expect(router.state.location.search).toEqual({ find: 'customer 1' }));
    await waitFor(() => expect(listed('Customer 250')).toBeNull());
    await userEvent.click(await screen.findByText('Load more'));
    await waitFor(() => expect(listed('Customer 1')).not.toBeNull());
  });

  it('lists only suspended organizations, also with a search', async () => {
    const { router } = renderPage('/operator/organizations?find=customer');
    await userEvent.selectOptions(await screen.findByLabelText('Status'), 'Suspended');
    await waitFor(() =>
      expect(router.state.location.search).toEqual({ find: 'customer', state: 'suspended' }),
    );
    await waitFor(() => {
      const last = api.requestsTo('GET /api/operator/organizations').at(-1);
      expect(Object.fromEntries(last?.query ?? [])).toMatchObject({ search: 'customer', state: 'suspended' });
    });
  });

  it('lists only organizations with a low balance', async () => {
    const { router } = renderPage('/operator/organizations');
    await userEvent.selectOptions(await screen.findByLabelText('Balance'), 'Below $10');
    await waitFor(() => expect(router.state.location.search).toEqual({ below: '10' }));
    await waitFor(() => {
      const last = api.requestsTo('GET /api/operator/organizations').at(-1);
      expect(last?.query?.get('balance_below_usd')).toBe('10');
    });
  });

  it('finds every organization from the switcher and the command palette', async () => {
    const { router } = renderPage('/o/org-250/limits');
    const [switcher] = await screen.findAllByRole('button', { name: /Switch organization/ });
    if (!switcher) throw new Error('the switcher is missing');
    await userEvent.click(switcher);
    await userEvent.click(await screen.findByRole('menuitem', { name: 'Search all organizations' }));
    await userEvent.type(await screen.findByRole('combobox', { name: 'Search or jump to' }), 'customer 7');
    await userEvent.click(await screen.findByRole('option', { name: /^Customer 7(?!\d)/ }));
    await waitFor(() => expect(router.state.location.pathname).toBe('/o/org-7'));
  });

  it('returns to the last organization, however old it is', async () => {
    localStorage.setItem('last-organization', 'org-3');
    const { router } = renderPage('/');
    await waitFor(() => expect(router.state.location.pathname).toBe('/o/org-3'));
  });

  it('shows balance, spend, errors and last use of each, sortable, and the totals of the platform', async () => {
    const [first, second, third] = ORGANIZATIONS;
    if (!first || !second || !third) throw new Error('too few organizations');
    api.on('GET /api/operator/organizations', () => ({
      data: [
        { ...first, ...figuresOf('9', 8, 2, '3.5', marginOf('9', '12', '-3')) },
        { ...second, ...figuresOf('10', 8, 0, '-0.25', marginOf('8', '6', '2')) },
        { ...third, balance_usd: null, usage: null },
      ],
      next_page_token: null,
    }));
    renderPage('/operator/organizations');
    const names = () => screen.getAllByRole('link', { name: /^Customer/ }).map((link) => link.textContent);
    const row = (await screen.findByRole('link', { name: first.name })).closest('tr')?.textContent;
    expect(row).toContain('$3.50');
    expect(row).toContain('$9.00');
    expect(row).toContain('25%');
    expect(row).toContain('−$3.00');
    expect(row).toContain('Of all spend');
    const partly = screen.getByRole('link', { name: second.name }).closest('tr')?.textContent;
    expect(partly).toContain('Cost known for 80% of spend');
    const unknown = screen.getByRole('link', { name: third.name }).closest('tr')?.textContent;
    expect(unknown).not.toContain('$0.00');
    expect(names()).toEqual([first, second, third].map(({ name }) => name));
    await userEvent.click(screen.getByRole('button', { name: /Spend, 30 days/ }));
    expect(names()).toEqual([second, first, third].map(({ name }) => name));
    expect(screen.getByText('$1,234.50')).toBeTruthy();
    expect(screen.getByText('1.5%')).toBeTruthy();
    await userEvent.click(screen.getByRole('button', { name: 'Margin' }));
    expect(names()).toEqual([second, first, third].map(({ name }) => name));
  });

  describe('the margin of the platform', () => {
    async function figureWith(spend: string, margin: Margin): Promise<string> {
      api.on('GET /api/operator/usage', () => ({
        today: { requests: 2, errors: 0, spend_usd: '0.5' },
        last_30_days: { requests: 1_000, errors: 15, spend_usd: spend },
        margin,
        ...{ days: [], models: [], providers: [] },
      }));
      api.on('GET /api/operator/organizations', () => ({ data: [], next_page_token: null }));
      renderPage('/operator/organizations');
      return (await screen.findByText('Margin, last 30 days')).parentElement?.textContent ?? '';
    }

    it.each([
      [
        'a part of the spend',
        '1234.5',
        marginOf('987.6', '246.9', '740.7'),
        '$740.7075%Cost known for 80% of spend',
      ],
      ['all spend', '10', marginOf('10', '12.5', '-2.5'), '−$2.50−25%Of all spend'],
      ['no spend', '10', null, '—No target has a cost'],
      ['a platform without spend', '0', null, '—No spend yet'],
    ])('is computed over %s', async (_what, spend, margin, expected) => {
      expect(await figureWith(spend, margin)).toBe(`Margin, last 30 days${expected}`);
    });
  });
});
