import type { Invalidation } from '@gateway/auth-shared';

/**
 * The most recent invalidations of this process, bounded. Sequence numbers have
 * no gaps, so a number that does not follow means that some were missed: then
 * the ring starts over, and whoever is behind it must forget all.
 */
export class InvalidationRing {
  private items: Invalidation[] = [];
  /** Everything above this, up to the last, is in `items`. */
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

  /** Takes in what follows; what is known already is left out. */
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

  /** Forgets everything up to `last`, which may be below what was known when the database was restored. */
  restart(last: bigint): void {
    this.items = [];
    this.base = last;
  }

  /** What comes after `sequence`, in order; a single "forget all" when it is no longer known. */
  after(sequence: bigint): readonly Invalidation[] {
    if (sequence >= this.last) return [];
    if (sequence < this.base) return [{ sequence: this.last, target: { kind: 'all' } }];
    return this.items.slice(Number(sequence - this.base));
  }
}
