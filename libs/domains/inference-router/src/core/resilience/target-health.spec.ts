import type { Clock, UnixMs } from '@gateway/base';
import { TargetHealth } from './target-health';

const clock: Clock = { now: () => 1_764_000_000_000 as UnixMs };
const target = { provider: 'acme', providerModel: 'm' } as never;

function quantilesOf(ms: number) {
  const health = new TargetHealth(clock);
  for (let calls = 0; calls < 100; calls += 1) health.firstEvent(target, ms);
  return health.figuresOf(target).firstEvent;
}

it.each([
  [4, 0, 10],
  [12, 10, 25],
  [60, 50, 100],
  [3_000, 2_500, 5_000],
])('estimates a first event after %s ms between %s and %s ms', (ms, lower, upper) => {
  const figures = quantilesOf(ms);
  for (const quantile of [figures?.p50Ms, figures?.p95Ms]) {
    expect(quantile).toBeGreaterThanOrEqual(lower);
    expect(quantile).toBeLessThanOrEqual(upper);
  }
});
