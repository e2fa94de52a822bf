import { minuteWindow, type UnixMs } from '@gateway/base';

/** The smallest of this many counts is evicted. */
const EVICTION_SAMPLE = 8;

/**
 * Counts by name within the current UTC minute, for a bounded number of names.
 * The first count of a minute clears those of the minute before; there is no
 * timer.
 *
 * When full, it evicts the smallest of the next few counts, oldest first. So
 * many new names evict each other, not the names with high counts.
 */
export class MinuteCounts {
  private readonly counts = new Map<string, number>();
  /** Cycles through the names, oldest first, to find one to evict. */
  private evictionCursor = this.counts.entries();
  private minute = -1;
  private largest = 0;

  constructor(private readonly maxNames: number) {}

  get size(): number {
    return this.counts.size;
  }

  add(name: string, at: UnixMs, amount = 1): void {
    const minute = minuteWindow(at);
    if (minute !== this.minute) {
      this.minute = minute;
      this.largest = 0;
      this.counts.clear();
    }
    let count = this.counts.get(name);
    if (count === undefined && this.counts.size >= this.maxNames) this.evictOne();
    this.counts.set(name, (count = (count ?? 0) + amount));
    if (count > this.largest) this.largest = count;
  }

  /**
   * Whether any name has reached the limit in the last counted minute, which may
   * be over. One comparison, without reading the clock, since every request calls this.
   */
  mayHaveReached(limit: number): boolean {
    return this.largest >= limit;
  }

  hasReached(name: string, limit: number, at: UnixMs): boolean {
    return (
      this.mayHaveReached(limit) && minuteWindow(at) === this.minute && (this.counts.get(name) ?? 0) >= limit
    );
  }

  private evictOne(): void {
    let smallest: [string, number] | undefined;
    for (let seen = 0; seen < EVICTION_SAMPLE; seen += 1) {
      const next = this.evictionCursor.next();
      if (next.done) {
        this.evictionCursor = this.counts.entries();
      } else if (smallest === undefined || next.value[1] < smallest[1]) {
        smallest = next.value;
        if (smallest[1] === 1) break;
      }
    }
    if (smallest) this.counts.delete(smallest[0]);
  }
}
