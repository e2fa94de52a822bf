import {
  addLatencies,
  LATENCY_BOUNDS_MS,
  meanMs,
  NO_LATENCIES,
  quantileMs,
  type Latencies,
} from './latency-histogram';

function latenciesOf(times: readonly number[]): Latencies {
  const histogram = LATENCY_BOUNDS_MS.map((upper, index) =>
    BigInt(times.filter((time) => time <= upper && time > (LATENCY_BOUNDS_MS[index - 1] ?? -1)).length),
  );
  return {
    count: BigInt(times.length),
    sumMs: times.reduce((sum, time) => sum + BigInt(time), 0n),
    histogram,
  };
}

it('is undefined without requests', () => {
  expect(meanMs(NO_LATENCIES)).toBeUndefined();
  expect(quantileMs(NO_LATENCIES, 0.5)).toBeUndefined();
});

it('has the exact mean, and a quantile within the right bucket', () => {
  const times = Array.from({ length: 1_000 }, (_, index) => (index + 1) * 7);
  const latencies = latenciesOf(times);
  expect(meanMs(latencies)).toBe(3503.5);
  for (const [share, truth] of [
    [0.5, 3_500],
    [0.95, 6_650],
    [0.01, 70],
  ] as const) {
    const estimate = quantileMs(latencies, share) ?? Number.NaN;
    const upper = LATENCY_BOUNDS_MS.find((bound) => truth <= bound) ?? Infinity;
    const lower = LATENCY_BOUNDS_MS[LATENCY_BOUNDS_MS.indexOf(upper as never) - 1] ?? 0;
    expect(estimate).toBeGreaterThanOrEqual(lower);
    expect(estimate).toBeLessThanOrEqual(upper);
  }
});

it('separates requests of 12 ms from those of 60 ms', () => {
  const quantile = (ms: number) => quantileMs(latenciesOf(Array.from({ length: 100 }, () => ms)), 0.5);
  expect(quantile(12)).toBeLessThanOrEqual(25);
  expect(quantile(60)).toBeGreaterThan(50);
});

it('returns the last bound for longer latencies', () => {
  expect(quantileMs(latenciesOf([1, 100_000, 200_000]), 0.95)).toBe(90_000);
});

it('adds histograms', () => {
  expect(addLatencies(latenciesOf([5, 300]), latenciesOf([300, 95_000]))).toEqual(
    latenciesOf([5, 300, 300, 95_000]),
  );
});
