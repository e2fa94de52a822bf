import type { Attempt, Outcome } from '@gateway/load';
import { impactOf } from './timeline';

/** Ten answers a second, but for what `outcomeAt` says otherwise. */
function attempts(outcomeAt: (ms: number) => Outcome | undefined): Attempt[] {
  return Array.from({ length: 300 }, (_, index) => index * 100).flatMap((ms) => {
    const outcome = outcomeAt(ms);
    if (outcome === undefined) return [];
    const code = outcome === 'refused' ? { code: 'no_capacity' } : {};
    return [{ marker: String(ms), kind: 'whole', tenant: 't', beganMs: ms, endedMs: ms, outcome, ...code }];
  });
}

const WINDOW = { beganMs: 10_000, mendedMs: 18_000, endedMs: 25_000 };

describe('the impact of a fault', () => {
  it('is none when every request is answered', () => {
    const impact = impactOf(
      attempts(() => 'answered'),
      WINDOW,
      10,
    );
    expect(impact).toEqual({
      requests: 150,
      answered: 150,
      errors: {},
      longestGapMs: 100,
      recoveryMs: 0,
      worstShare: 1,
    });
  });

  it('tells the gap, the errors and the recovery of an outage', () => {
    const impact = impactOf(
      attempts((ms) => (ms > 11_000 && ms <= 20_000 ? 'refused' : 'answered')),
      WINDOW,
      10,
    );
    expect(impact).toMatchObject({ errors: { no_capacity: 90 }, longestGapMs: 9_100, worstShare: 0 });
    // Two seconds until it answers at all, and most of the span until eight of ten are good.
    expect(impact.recoveryMs).toBe(3_600);
  });

  it('judges no moment that was not seen', () => {
    const short = { beganMs: 10_000, mendedMs: 10_010, endedMs: 13_500 };
    expect(
      impactOf(
        attempts(() => 'answered'),
        short,
        10,
      ).worstShare,
    ).toBe(1);
  });

  it('forgives one of two replicas three seconds, not more', () => {
    const half = (until: number) =>
      impactOf(
        attempts((ms) => (ms >= 10_000 && ms < until ? undefined : 'answered')),
        WINDOW,
        10,
      ).worstShare;
    expect(half(13_000)).toBe(1);
    expect(half(14_500)).toBeLessThan(0.5);
  });
});
