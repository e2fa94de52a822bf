/** @jest-environment @happy-dom/jest-environment */
import { cleanup, screen, within } from '@testing-library/react';
import { installApiDouble, type ApiDouble } from '../../testing/api-double';
import { BOUNDS, keyWith, ORGANIZATION, sessionOf } from '../../testing/fixtures';
import { renderPage } from '../../testing/render-page';
import type { UsageChartProps } from '../usage/usage-chart';

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

  it('names the model of requests that were refused before a model was known', async () => {
    const metrics = {
      ...{ requests: 0, errors: 0, cancelled: 0, refused: 2, prompt_tokens: 0, cached_tokens: 0 },
      ...{ cache_write_tokens: 0, cache_write_1h_tokens: 0, image_tokens: 0, completion_tokens: 0 },
      ...{ reasoning_tokens: 0, cost_usd: '0', spend_usd: '0', duration: null, time_to_first_token: null },
    };
    api.on('GET /api/organizations/{organization_id}/usage', ({ query }) => {
      const [start = '', end = ''] = [query.get('start') ?? '', query.get('end') ?? ''];
      return {
        ...{ timezone: 'UTC' as const, granularity: 'day' as const, start, end },
        totals: { ...metrics, requests: 1 },
        data: [{ ...metrics, start, model_id: '', key_id: null, project_id: null, value: null }],
      };
    });
    const UsageChart = ({ series, nameOf }: UsageChartProps) => (
      <>{nameOf(series.data[0]?.model_id ?? '-')}</>
    );
    renderPage('/o/org-1').queryClient.setQueryData(['usage-chart-code'], { UsageChart });
    await screen.findByText('Unknown model');
  });

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
