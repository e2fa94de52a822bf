import { minuteWindow, type UnixMs } from '@gateway/base';

/** How many names compete for which is forgotten. */
const EVICTION_SAMPLE = 8;

/**
 * Counts by name within the current UTC minute, for a bounded number of names.
 * Nothing happens at the end of a minute: the first count of the next one
 * begins anew.
 *
 * When there are too many names, the smallest count of the next few, oldest
 * first, is forgotten. So a flood from ever new names pushes out its own, not
 * those that have come far already.
 */
export class MinuteCounts {
  private readonly counts = new Map<string, number>();
  /** Goes round the names, oldest first, to find what to forget. */
  private hand = this.counts.entries();
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
   * Whether some name came this far in the minute that was counted last, which
   * may be over: one comparison and no look at a clock, for what every request asks.
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
    for (let looked = 0; looked < EVICTION_SAMPLE; looked += 1) {
      const next = this.hand.next();
      if (next.done) {
        this.hand = this.counts.entries();
      } else if (smallest === undefined || next.value[1] < smallest[1]) {
        smallest = next.value;
        // None can be smaller.
        if (smallest[1] === 1) break;
      }
    }
    if (smallest) this.counts.delete(smallest[0]);
  }
}
