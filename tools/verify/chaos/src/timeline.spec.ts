import type { Attempt, Outcome } from '@gateway/load';
import { impactOf } from './timeline';

/** Ten attempts per second with the outcome of `outcomeAt`; none where it is undefined. */
function attempts(outcomeAt: (ms: number) => Outcome | undefined): Attempt[] {
  return Array.from({ length: 300 }, (_, index) => index * 100).flatMap((ms) => {
    const outcome = outcomeAt(ms);
    if (outcome === undefined) return [];
    const code = outcome === 'failed' ? { code: 'no_capacity' } : {};
    return [
      {
        marker: String(ms),
        kind: 'non-streaming',
        tenant: 't',
        startedMs: ms,
        endedMs: ms,
        outcome,
        ...code,
      },
    ];
  });
}

const WINDOW = { startedMs: 10_000, recoveredMs: 18_000, endedMs: 25_000 };

describe('the impact of a fault', () => {
  it('is zero when every request completes', () => {
    const impact = impactOf(
      attempts(() => 'completed'),
      WINDOW,
      10,
    );
    expect(impact).toEqual({
      requests: 150,
      completed: 150,
      errors: {},
      longestOutageMs: 100,
      recoveryMs: 0,
      lowestThroughput: 1,
    });
  });

  it('reports the errors, the outage and the recovery time', () => {
    const impact = impactOf(
      attempts((ms) => (ms > 11_000 && ms <= 20_000 ? 'failed' : 'completed')),
      WINDOW,
      10,
    );
    expect(impact).toMatchObject({
      errors: { no_capacity: 90 },
      longestOutageMs: 9_100,
      lowestThroughput: 0,
    });
    // Two seconds until the first response, and most of the span until 80 % are served.
    expect(impact.recoveryMs).toBe(3_600);
  });

  it('ignores times outside the window', () => {
    const short = { startedMs: 10_000, recoveredMs: 10_010, endedMs: 13_500 };
    expect(
      impactOf(
        attempts(() => 'completed'),
        short,
        10,
      ).lowestThroughput,
    ).toBe(1);
  });

  it('allows three seconds for the other replica to take over', () => {
    const half = (until: number) =>
      impactOf(
        attempts((ms) => (ms >= 10_000 && ms < until ? undefined : 'completed')),
        WINDOW,
        10,
      ).lowestThroughput;
    expect(half(13_000)).toBe(1);
    expect(half(14_500)).toBeLessThan(0.5);
  });
});
