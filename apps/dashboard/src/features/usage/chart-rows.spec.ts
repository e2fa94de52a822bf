import type { UsagePoint, UsageSeries } from '../../api/usage';
import { rangeOf } from '../../api/usage';
import { chartRows } from './chart-rows';

const LATENCY = { mean_ms: 300, p50_ms: 200, p95_ms: 900 };

function point(start: string, model: string, spend: string): UsagePoint {
  return {
    start,
    model_id: model,
    key_id: null,
    requests: 1,
    errors: 0,
    cancelled: 0,
    prompt_tokens: 10,
    cached_tokens: 0,
    image_tokens: 0,
    completion_tokens: 5,
    reasoning_tokens: 0,
    cost_usd: spend,
    spend_usd: spend,
    duration: LATENCY,
    time_to_first_token: null,
  };
}

function series(...data: readonly UsagePoint[]): UsageSeries {
  const [totals] = data;
  if (!totals) throw new Error('the test series is empty');
  return {
    timezone: 'UTC',
    granularity: 'day',
    start: '2026-11-18T00:00:00.000Z',
    end: '2026-11-21T00:00:00.000Z',
    totals,
    data: [...data],
  };
}

const nameOf = (id: string) => id;

it('has a row for every day, including days without requests', () => {
  const { rows } = chartRows(series(point('2026-11-19T00:00:00.000Z', 'a', '1')), 'spend', 'model', nameOf);
  expect(rows.map(({ label, values }) => [label, values['a']])).toEqual([
    ['18 Nov', undefined],
    ['19 Nov', 1],
    ['20 Nov', undefined],
  ]);
});

it('adds amounts exactly', () => {
  const at = '2026-11-19T00:00:00.000Z';
  const { rows } = chartRows(series(point(at, 'a', '0.1'), point(at, 'a', '0.2')), 'spend', 'none', nameOf);
  expect(rows[1]?.exactUsd['all']).toBe('0.3');
});

it('shows the largest series, and the others as one', () => {
  const at = '2026-11-19T00:00:00.000Z';
  const points = Array.from({ length: 9 }, (_, index) => point(at, `m${index}`, String(index + 1)));
  const { rows, parts } = chartRows(series(...points), 'spend', 'model', nameOf);
  expect(parts.map(({ id }) => id)).toEqual(['m8', 'm7', 'm6', 'm5', 'm4', 'rest']);
  expect(rows[1]?.values['rest']).toBe(1 + 2 + 3 + 4);
});

it('queries full UTC hours and days, including today', () => {
  const now = Date.parse('2026-11-20T09:30:00Z');
  expect(rangeOf({ range: '7d' }, now)).toEqual({
    start: '2026-11-14T00:00:00.000Z',
    end: '2026-11-21T00:00:00.000Z',
    granularity: 'day',
  });
  expect(rangeOf({ range: '24h' }, now)).toMatchObject({
    end: '2026-11-20T10:00:00.000Z',
    granularity: 'hour',
  });
  expect(rangeOf({ range: 'custom', from: '2026-11-01', to: '2026-11-02' }, now)).toEqual({
    start: '2026-11-01T00:00:00.000Z',
    end: '2026-11-03T00:00:00.000Z',
    granularity: 'hour',
  });
  expect(rangeOf({ range: 'custom', from: 'nonsense', to: '2026-11-02' }, now)).toEqual(rangeOf({}, now));
});
