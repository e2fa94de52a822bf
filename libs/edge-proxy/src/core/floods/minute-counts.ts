import { type UnixMs } from '@gateway/base';

const MINUTE_MS = 60_000;
/** How many of the oldest names compete for who is forgotten. */
const EVICTION_SAMPLE = 8;

/** Milliseconds until the next UTC minute begins, 1 to 60,000. */
export function msUntilNextMinute(at: UnixMs): number {
  return MINUTE_MS - (at % MINUTE_MS);
}

/**
 * Counts by name within the current UTC minute, for a bounded number of names.
 * Nothing happens at the end of a minute: the first count of the next one
 * begins anew.
 *
 * When there are too many names, the smallest count among the oldest few is
 * forgotten and the others of them count as new. So a flood from ever new names
 * pushes out its own, not those that have come far already.
 */
export class MinuteCounts {
  private readonly counts = new Map<string, number>();
  private minute = -1;
  private largest = 0;

  constructor(private readonly maxNames: number) {}

  get size(): number {
    return this.counts.size;
  }

  add(name: string, at: UnixMs): void {
    const minute = Math.floor(at / MINUTE_MS);
    if (minute !== this.minute) {
      this.minute = minute;
      this.largest = 0;
      this.counts.clear();
    }
    let count = this.counts.get(name);
    if (count === undefined && this.counts.size >= this.maxNames) this.evictOne();
    this.counts.set(name, (count = (count ?? 0) + 1));
    if (count > this.largest) this.largest = count;
  }

  /** Whether some name may have come this far: no more than two comparisons, for what every request asks. */
  hasAnyReached(limit: number, at: UnixMs): boolean {
    return this.largest >= limit && Math.floor(at / MINUTE_MS) === this.minute;
  }

  hasReached(name: string, limit: number, at: UnixMs): boolean {
    return this.hasAnyReached(limit, at) && (this.counts.get(name) ?? 0) >= limit;
  }

  private evictOne(): void {
    const oldest: [string, number][] = [];
    for (const entry of this.counts) {
      if (oldest.push(entry) === EVICTION_SAMPLE) break;
    }
    const smallest = Math.min(...oldest.map(([, count]) => count));
    const [evicted] = oldest.find(([, count]) => count === smallest) ?? [];
    for (const [name, count] of oldest) {
      this.counts.delete(name);
      if (name !== evicted) this.counts.set(name, count);
    }
  }
}
