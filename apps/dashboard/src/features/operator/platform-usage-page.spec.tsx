/** @jest-environment @happy-dom/jest-environment */
import { cleanup, screen, within } from '@testing-library/react';
import { installApiDouble } from '../../testing/api-double';
import { sessionOf } from '../../testing/fixtures';
import { renderPage } from '../../testing/render-page';

afterEach(cleanup);

it('shows spend, margin, requests and errors of each model, provider and day', async () => {
  const api = installApiDouble();
  const margin = { spend_usd: '8', provider_cost_usd: '6', margin_usd: '2' };
  const totals = { requests: 10, errors: 1, spend_usd: '8', margin };
  api.on('GET /api/session', () => sessionOf('operator'));
  api.on('GET /api/organizations', () => ({ data: [], next_page_token: null }));
  api.on('GET /api/operator/usage', () => ({
    ...{ today: totals, last_30_days: totals, margin },
    days: [{ day: '2026-11-20', ...totals }],
    models: [
      { model_id: 'acme/large', ...totals },
      { model_id: 'acme/free', ...totals, spend_usd: '0', margin: null },
    ],
    providers: [
      { provider: 'acme', ...totals },
      { provider: null, ...totals, spend_usd: '0', margin: null },
    ],
  }));
  renderPage('/operator/usage');
  const rowOf = async (table: string, name: string) => {
    const found = within(await screen.findByRole('table', { name: table }));
    return found.getByText(name).closest('tr')?.textContent;
  };
  expect(await rowOf('By model', 'acme/large')).toMatch(/\$8\.00.*\$2\.0025%Of all spend10.*10%/);
  expect(await rowOf('By model', 'acme/free')).toMatch(/\$0\.00.*—No spend yet/);
  expect(await rowOf('By provider', 'acme')).toMatch(/\$8\.00.*\$2\.0025%Of all spend10.*10%/);
  expect(await rowOf('By provider', 'None was called')).toMatch(/\$0\.00.*—No spend yet/);
  expect(await rowOf('By day', '20 Nov 2026')).toMatch(/\$8\.00.*10%/);
});
