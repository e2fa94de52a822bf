/** @jest-environment @happy-dom/jest-environment */
import { detailText } from './audit-changes';

it.each([
  ['amount_usd', '49.5', '$49.50'],
  ['daily_budget_nano_usd', '25000000001', '$25.000000001'],
  ['requests_per_minute', 1_200_000, '1,200,000'],
  ['expires_at', '2026-11-22T16:30:03.398Z', '22 Nov 2026, 16:30:03 UTC'],
  ['suspended', false, 'No'],
  ['ip_allowlist', [], 'None'],
  ['allowed_models', ['a/b', 'c/d'], 'a/b, c/d'],
  ['name', 'safe\u202Egpj', 'safe⟨U+202E⟩gpj'],
  [
    'other_budgets',
    [
      { period: 'window', hours: 24, model: 'acme/*', amount_nano_usd: '6000000000' },
      { period: 'month', per_end_user: true, amount_nano_usd: '500000000' },
    ],
    '24-hour budget for acme/*: $6.00, Monthly budget of each end user: $0.50',
  ],
  ['note_usd', 'not an amount', 'not an amount'],
])('shows %s %j as %s', (name, value, text) => expect(detailText(name, value)).toBe(text));
