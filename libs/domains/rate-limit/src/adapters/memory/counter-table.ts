/** Requests and tokens of one UTC minute. */
export interface WindowCount {
  readonly window: number;
  requests: number;
  tokens: number;
}

/** What one organization or key has reserved. */
export interface Counter {
  readonly id: string;
  /** Replaced by a new object when a new window begins. */
  current: WindowCount;
  slots: number;
}

/** Each lookup forgets up to this many idle counters: more than it can add, so that the table shrinks. */
const EVICTIONS_PER_LOOKUP = 2;

/**
 * Counters by id, ordered by the window that they were last used in. Those
 * whose window is over and whose slots are free go, a few at each lookup, so
 * that no call ever pays for a sweep of the whole table.
 */
export class CounterTable {
  private readonly counters = new Map<string, Counter>();

  get size(): number {
    return this.counters.size;
  }

  /** The counter, set to this window. */
  lookUp(id: string, window: number): Counter {
    this.evict(window);
    const known = this.counters.get(id);
    if (known === undefined) {
      const counter = { id, current: emptyWindow(window), slots: 0 };
      this.counters.set(id, counter);
      return counter;
    }
    if (known.current.window !== window) {
      known.current = emptyWindow(window);
      this.moveToEnd(known);
    }
    return known;
  }

  private evict(window: number): void {
    let left = EVICTIONS_PER_LOOKUP;
    for (const counter of this.counters.values()) {
      if (left === 0 || counter.current.window === window) return;
      left -= 1;
      if (counter.slots === 0) this.counters.delete(counter.id);
      else this.moveToEnd(counter);
    }
  }

  private moveToEnd(counter: Counter): void {
    this.counters.delete(counter.id);
    this.counters.set(counter.id, counter);
  }
}

function emptyWindow(window: number): WindowCount {
  return { window, requests: 0, tokens: 0 };
}
