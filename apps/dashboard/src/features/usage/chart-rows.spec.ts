import type { UsagePoint, UsageSeries } from '../../api/usage';
import { rangeOf } from '../../api/usage';
import { chartOf } from './chart-rows';
import type { Measure } from './search';

const LATENCY = { mean_ms: 300, p50_ms: 200, p95_ms: 900 };

function point(start: string, model: string, spend: string): UsagePoint {
  return {
    start,
    model_id: model,
    key_id: null,
    project_id: null,
    value: null,
    requests: 1,
    errors: 0,
    cancelled: 0,
    refused: 0,
    prompt_tokens: 10,
    cached_tokens: 0,
    cache_write_tokens: 0,
    cache_write_1h_tokens: 0,
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

const chart = (one: UsageSeries, measure: Measure = 'spend', split: 'model' | 'key' = 'model') =>
  chartOf(one, { measure, split, nameOf: (id) => id });

it('has a row for every day, including days without requests', () => {
  const { rows } = chart(series(point('2026-11-19T00:00:00.000Z', 'a', '1')));
  expect(rows.map(({ label, values }) => [label, values['a']])).toEqual([
    ['18 Nov', undefined],
    ['19 Nov', 1],
    ['20 Nov', undefined],
  ]);
});

it('adds amounts exactly', () => {
  const at = '2026-11-19T00:00:00.000Z';
  const { rows } = chart(series(point(at, 'a', '0.1'), point(at, 'a', '0.2')));
  expect(rows[1]?.exactUsd['a']).toBe('0.3');
});

it('sums a day exactly over its series', () => {
  const at = '2026-11-19T00:00:00.000Z';
  const one = series(point(at, 'a', '0.1'), point(at, 'b', '0.2'));
  expect(chart(one).rows.map(({ total }) => total?.exactUsd)).toEqual([undefined, '0.3', undefined]);
  expect(chart(one, 'requests').rows[1]?.total?.value).toBe(2);
  expect(chart(one, 'p50').rows[1]?.total).toBeUndefined();
});

it('marks the day that has not ended', () => {
  const one = series(point('2026-11-19T00:00:00.000Z', 'a', '1'));
  const options = { measure: 'spend', split: 'model', nameOf: (id: string) => id } as const;
  const partial = (now: string) => chartOf(one, options, Date.parse(now)).rows.map((row) => row.partial);
  expect(partial('2026-11-20T09:30:00Z')).toEqual([false, false, true]);
  expect(partial('2026-11-21T00:00:00Z')).toEqual([false, false, false]);
});

it('shows the largest series, and the others as one', () => {
  const at = '2026-11-19T00:00:00.000Z';
  const points = Array.from({ length: 9 }, (_, index) => point(at, `m${index}`, String(index + 1)));
  const { rows, parts, max } = chart(series(...points));
  expect(parts.map(({ id }) => id)).toEqual(['m8', 'm7', 'm6', 'm5', 'm4', 'rest']);
  expect(rows[1]?.values['rest']).toBe(1 + 2 + 3 + 4);
  expect(max).toBe(45);
});

it('keeps the color of a model when its rank changes', () => {
  const at = '2026-11-19T00:00:00.000Z';
  const colorsWith = (spend: string) => {
    const { parts } = chart(series(point(at, 'a', spend), point(at, 'b', '2'), point(at, 'c', '3')));
    return Object.fromEntries(parts.map(({ id, color }) => [id, color]));
  };
  expect(colorsWith('1')).toEqual(colorsWith('9'));
  expect(new Set(Object.values(colorsWith('1'))).size).toBe(3);
});

it('shows the latency of each model as a line of its own', () => {
  const at = '2026-11-19T00:00:00.000Z';
  const slow = { ...point(at, 'slow', '1'), duration: { mean_ms: 2_000, p50_ms: 1_500, p95_ms: 4_000 } };
  const two = series(point(at, 'fast', '1'), slow);
  expect(chart(two, 'p50').rows[1]?.values).toEqual({ fast: 200, slow: 1_500 });
  expect(chart(two, 'p95')).toMatchObject({ max: 4_000, parts: [{ id: 'fast' }, { id: 'slow' }] });
  expect(chart(two, 'first_token').rows[1]?.values).toEqual({ fast: undefined, slow: undefined });
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
