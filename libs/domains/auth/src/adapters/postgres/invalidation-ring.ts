import type { Invalidation } from '@gateway/auth-shared';

/**
 * A bounded buffer of the most recent invalidations. Sequence numbers have no
 * gaps, so a skipped number means that invalidations were missed. The buffer then
 * restarts, and watches behind it evict everything.
 */
export class InvalidationRing {
  private items: Invalidation[] = [];
  /** `items` has all invalidations above this number. */
  private base: bigint;

  constructor(
    last: bigint,
    private readonly capacity: number,
  ) {
    this.base = last;
  }

  get last(): bigint {
    return this.base + BigInt(this.items.length);
  }

  /** Appends new invalidations and skips those already in the buffer. */
  append(invalidations: readonly Invalidation[]): void {
    for (const invalidation of invalidations) {
      if (invalidation.sequence <= this.last) continue;
      if (invalidation.sequence !== this.last + 1n) this.restart(invalidation.sequence - 1n);
      this.items.push(invalidation);
    }
    const excess = this.items.length - this.capacity;
    if (excess > 0) {
      this.items.splice(0, excess);
      this.base += BigInt(excess);
    }
  }

  /** Clears the buffer. `last` can be lower than before if the database was restored from a backup. */
  restart(last: bigint): void {
    this.items = [];
    this.base = last;
  }

  /** The invalidations after `sequence`, in order. A single one for all keys if some are no longer buffered. */
  after(sequence: bigint): readonly Invalidation[] {
    if (sequence >= this.last) return [];
    if (sequence < this.base) return [{ sequence: this.last, target: { kind: 'all' } }];
    return this.items.slice(Number(sequence - this.base));
  }
}
