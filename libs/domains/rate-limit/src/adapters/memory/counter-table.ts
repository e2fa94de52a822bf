/** Requests and tokens of one UTC minute. */
export interface WindowCount {
  readonly window: number;
  requests: number;
  tokens: number;
}

/** The counters of one organization or key. */
export interface Counter {
  readonly id: string;
  /** Replaced by a new object when a new window starts. */
  current: WindowCount;
  slots: number;
}

/** Each lookup evicts up to this many idle counters: more than it adds, so that the table shrinks. */
const EVICTIONS_PER_LOOKUP = 2;

/**
 * Counters by id, ordered by the window of their last use. Each lookup evicts a
 * few counters with an old window and no slots in use, so that no call sweeps the
 * whole table.
 */
export class CounterTable {
  private readonly counters = new Map<string, Counter>();

  get size(): number {
    return this.counters.size;
  }

  /** Returns the counter, moved to this window. */
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
