/** @jest-environment @happy-dom/jest-environment */
import { cleanup, screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { installApiDouble, type ApiDouble } from '../../../testing/api-double';
import { CATALOGUE_OF_FILE, sessionOf } from '../../../testing/fixtures';
import { renderPage } from '../../../testing/render-page';
import { statusOf } from './providers-tab';

it.each([
  ['closed', 0, 0, 'No requests'],
  ['closed', 100, 5, 'Healthy'],
  ['closed', 100, 6, 'Some failures'],
  ['closed', 3, 3, 'Failing'],
  ['open', 3, 3, 'Circuit open'],
  ['half_open', 3, 0, 'Recovering'],
] as const)(
  'a target with the breaker %s, %s calls and %s failures is shown as %s',
  (breaker, calls, failures, label) => expect(statusOf({ breaker, calls, failures }).label).toBe(label),
);

describe('the providers tab', () => {
  let api: ApiDouble;

  beforeEach(() => {
    api = installApiDouble();
    api.on('GET /api/session', () => sessionOf('operator'));
    api.on('GET /api/organizations', () => ({ data: [], next_page_token: null }));
    api.on('GET /api/operator/catalogue/state', () => CATALOGUE_OF_FILE);
  });
  afterEach(cleanup);

  const respondWith = (running: number) =>
    api.on('GET /api/operator/providers', () => ({
      health: {
        window_ms: 300_000,
        observed_at: '2026-11-20T09:00:00.000Z',
        instance: 'router-1',
        providers: [{ name: 'acme', calls_in_flight: running, max_concurrent: 512 }],
        targets: ['large', 'small'].map((model) => ({
          provider: 'acme',
          provider_model: model,
          breaker: 'closed' as const,
          open_for_organizations: 0,
          calls: 0,
          failures: 0,
          failures_by_kind: {},
          first_event: null,
          calls_in_flight: 0,
          drained: null,
          models: [`acme/${model}`],
        })),
      },
    }));

  it('names the target in the dialog that drains it', async () => {
    respondWith(0);
    renderPage('/operator/catalogue?tab=providers');
    await userEvent.click(await screen.findByRole('button', { name: 'Drain acme small' }));
    const dialog = await screen.findByRole('dialog', { name: 'Drain acme small' });
    expect(within(dialog).getByRole('button', { name: 'Drain' })).toBeTruthy();
  });

  it.each([
    [0, '0%'],
    [128, '25%'],
    [600, '100%'],
  ])('shows %s of 512 requests in flight as a bar of %s', async (running, width) => {
    respondWith(running);
    renderPage('/operator/catalogue?tab=providers');
    const meter = await screen.findByRole('meter', { name: 'Requests in flight at acme' });
    expect([meter.getAttribute('aria-valuenow'), meter.getAttribute('aria-valuemax')]).toEqual([
      String(running),
      '512',
    ]);
    expect((meter.firstElementChild as HTMLElement).style.width).toBe(width);
  });
});
