import fc from 'fast-check';
import { backoffMs } from './backoff';

describe('backoff', () => {
  const backoff = { firstMs: 100, maxMs: 2_000 };

  it('doubles its ceiling with each failure, up to the maximum', () => {
    const ceilings = [1, 2, 3, 4, 5, 6, 7].map((failures) => backoffMs(failures, backoff, 1));
    expect(ceilings).toEqual([100, 200, 400, 800, 1_600, 2_000, 2_000]);
  });

  it('distributes pauses from zero to the ceiling', () => {
    expect(backoffMs(2, backoff, 0)).toBe(0);
    expect(backoffMs(2, backoff, 0.5)).toBe(100);
  });

  it('stays within its limits for any number of failures', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1 }), fc.double({ min: 0, max: 1, noNaN: true }), (failures, random) => {
        const pauseMs = backoffMs(failures, backoff, random);
        expect(pauseMs).toBeGreaterThanOrEqual(0);
        expect(pauseMs).toBeLessThanOrEqual(backoff.maxMs);
      }),
    );
  });
});
