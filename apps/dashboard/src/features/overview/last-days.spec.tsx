/** @jest-environment @happy-dom/jest-environment */
import { cleanup, screen, within } from '@testing-library/react';
import { installApiDouble, type ApiDouble } from '../../testing/api-double';
import { BOUNDS, keyWith, ORGANIZATION, sessionOf } from '../../testing/fixtures';
import { renderPage } from '../../testing/render-page';

const SUMMARY = 'GET /api/organizations/{organization_id}/usage/summary';
const SUMMARIZED = {
  current: { requests: 1_500, errors: 30, spend_usd: '11.25' },
  previous: { requests: 2_000, errors: 10, spend_usd: '10' },
  spend_last_7_days_usd: '14',
  top_keys: [{ key_id: 'key-1', requests: 1_000, errors: 25, spend_usd: '8.000000001' }],
};

describe('the overview of an organization', () => {
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
    api.on('GET /api/organizations/{organization_id}/live', () => ({
      balance: {
        total_credits_usd: '50',
        total_usage_usd: '25',
        balance_usd: '25',
        reserved_usd: '1',
        available_usd: '24',
      },
      low_balance: null,
      spend_today_usd: '1',
      requests_today: 3,
      latest_generation_id: null,
    }));
  });
  afterEach(cleanup);

  const figure = async (label: string) =>
    (await screen.findByText(label, { selector: 'dt' })).closest('div')?.textContent;

  it('shows trend, error rate and the days of credit left', async () => {
    api.on(SUMMARY, () => SUMMARIZED);
    renderPage('/o/org-1');
    expect(await figure('Spend')).toBe('Spend$11.25+12.5% from $10.00');
    expect(await figure('Requests')).toBe('Requests1,500−25% from 2,000');
    expect(await figure('Error rate')).toBe('Error rate2%30 failed; 0.5% before');
    expect(await figure('Credit left')).toBe('Credit left≈ 12 daysAt the average of the last 7 days');
  });

  it('shows the keys with the highest spend', async () => {
    api.on(SUMMARY, () => SUMMARIZED);
    renderPage('/o/org-1');
    const row = (await screen.findByRole('link', { name: 'production …x7Qe' })).closest('tr') as HTMLElement;
    expect(within(row).getByText('$8.00').getAttribute('value')).toBe('8.000000001');
    expect(row.textContent).toContain('2.5%');
  });

  it('claims no trend and no rate without requests', async () => {
    const none = { requests: 0, errors: 0, spend_usd: '0' };
    api.on(SUMMARY, () => ({ current: none, previous: none, spend_last_7_days_usd: '0', top_keys: [] }));
    renderPage('/o/org-1');
    expect(await figure('Spend')).toBe('Spend$0.00No spend before');
    expect(await figure('Error rate')).toBe('Error rate—0 failed');
    expect(await figure('Credit left')).toBe('Credit left—No spend in the last 7 days');
    expect(screen.queryByText('Top keys')).toBeNull();
  });
});
