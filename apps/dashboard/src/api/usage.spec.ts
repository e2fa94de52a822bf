import { rangeOf } from './usage';

const NOW = Date.parse('2026-11-20T10:30:00Z');

it.each([
  [{ range: '24h' }, '2026-11-19T11:00:00.000Z', '2026-11-20T11:00:00.000Z', 'hour'],
  [{ range: '7d' }, '2026-11-14T00:00:00.000Z', '2026-11-21T00:00:00.000Z', 'day'],
  [{}, '2026-10-22T00:00:00.000Z', '2026-11-21T00:00:00.000Z', 'day'],
  [
    { range: 'custom', from: '2026-11-01', to: '2026-11-03' },
    '2026-11-01T00:00:00.000Z',
    '2026-11-04T00:00:00.000Z',
    'hour',
  ],
  [
    { range: 'custom', from: '2026-11-01', to: '2026-11-04' },
    '2026-11-01T00:00:00.000Z',
    '2026-11-05T00:00:00.000Z',
    'day',
  ],
  [{ range: 'custom', from: '2026-11-01' }, '2026-11-01T00:00:00.000Z', '2026-11-21T00:00:00.000Z', 'day'],
  [
    { range: 'custom', from: '2020-01-01', to: '2026-11-20' },
    '2025-11-20T00:00:00.000Z',
    '2026-11-21T00:00:00.000Z',
    'day',
  ],
] as const)('resolves %j to full UTC hours or days', (choice, start, end, granularity) =>
  expect(rangeOf(choice, NOW)).toEqual({ start, end, granularity }),
);

it.each([
  { range: 'custom', from: '2026-11-05', to: '2026-11-01' },
  { range: 'custom', from: '2026-02-31', to: 'today' },
  { range: 'custom' },
] as const)('falls back to the default range for the invalid %j', (choice) =>
  expect(rangeOf(choice, NOW)).toEqual(rangeOf({}, NOW)),
);
