import type { Invalidation } from '@gateway/auth-shared';
import { InvalidationRing } from './invalidation-ring';

const invalidation = (sequence: number): Invalidation => ({
  sequence: BigInt(sequence),
  target: { kind: 'organization', id: `org-${sequence}` },
});
const sequences = (invalidations: readonly Invalidation[]) =>
  invalidations.map(({ sequence }) => Number(sequence));

describe('InvalidationRing', () => {
  it('returns the invalidations after a sequence number, in order', () => {
    const ring = new InvalidationRing(10n, 100);
    ring.append([invalidation(11), invalidation(12)]);
    ring.append([invalidation(12), invalidation(13)]);
    expect(sequences(ring.after(10n))).toEqual([11, 12, 13]);
    expect(sequences(ring.after(12n))).toEqual([13]);
    expect(ring.after(13n)).toEqual([]);
    expect(ring.after(14n)).toEqual([]);
  });

  it('invalidates everything for a watch that fell too far behind', () => {
    const ring = new InvalidationRing(0n, 2);
    ring.append([1, 2, 3, 4].map(invalidation));
    expect(sequences(ring.after(2n))).toEqual([3, 4]);
    expect(ring.after(1n)).toEqual([{ sequence: 4n, target: { kind: 'all' } }]);
  });

  it('invalidates everything for every watch before a gap', () => {
    const ring = new InvalidationRing(0n, 100);
    ring.append([invalidation(1)]);
    ring.append([invalidation(5), invalidation(6)]);
    expect(ring.after(1n)).toEqual([{ sequence: 6n, target: { kind: 'all' } }]);
    expect(sequences(ring.after(4n))).toEqual([5, 6]);
  });
});
