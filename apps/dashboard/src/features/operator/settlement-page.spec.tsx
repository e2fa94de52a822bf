/** @jest-environment @happy-dom/jest-environment */
import { cleanup, screen, within } from '@testing-library/react';
import { installApiDouble } from '../../testing/api-double';
import { ORGANIZATION, sessionOf } from '../../testing/fixtures';
import { renderPage } from '../../testing/render-page';

const AT = '2026-11-20T09:00:00.000Z';

describe('the settlement page', () => {
  afterEach(cleanup);

  it('names the organizations of differences', async () => {
    const api = installApiDouble();
    api.on('GET /api/session', () => sessionOf('operator'));
    api.on('GET /api/organizations', () => ({ data: [], next_page_token: null }));
    api.on('GET /api/organizations/{organization_id}', () => ({ organization: ORGANIZATION }));
    api.on('GET /api/operator/settlement', () => ({
      health: { observed_at: AT, open_holds: null, event_log: null, spool: null },
    }));
    const difference = { organization_id: 'org-1', first_seen_at: AT };
    const sums = { generations: 1, cost_usd: '1', charged_usd: '1' };
    api.on('GET /api/operator/reconciliation', () => ({
      reconciliation: {
        observed_at: AT,
        ledger: {
          ...{ last_run_at: AT, reconciled_until: AT, known_differences: 1 },
          differences: [
            { ...difference, kind: 'held', generation_id: null, expected_usd: '1', found_usd: '2' },
          ],
        },
        usage: {
          ...{ compared_until: AT, known_differences: 1 },
          differences: [{ ...difference, kind: 'settlements', starts_at: AT, expected: sums, found: sums }],
        },
      },
    }));
    renderPage('/operator/settlement');
    for (const name of ['Balances that differ from postings', 'Usage that differs from settlements']) {
      const table = await screen.findByRole('table', { name });
      const link = await within(table).findByRole('link', { name: 'Acme' });
      expect(link.getAttribute('href')).toBe('/o/org-1');
    }
  });
});
