export interface Expiring {
  expire(): void;
}

/** Deadlines are rounded up to a multiple of this, so that calls share timers. */
const TICK_MS = 10;
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * Deadlines of many calls on one timer. Nearly every call ends before its
 * deadline, so adding and removing cost next to nothing, and the timer wakes
 * only at the earliest deadline that was ever asked for since it last woke.
 */
export class DeadlineWheel {
  readonly #entries = new Map<number, Set<Expiring>>();
  #latestTick = 0;
  #count = 0;
  #timer: NodeJS.Timeout | undefined;
  #wakeTick = Infinity;

  /** @returns what `remove` needs to find the entry again. */
  add(entry: Expiring, timeoutMs: number): number {
    const tick = Math.ceil((performance.now() + timeoutMs) / TICK_MS);
    if (tick !== this.#latestTick) {
      const latest = this.#latestTick;
      this.#latestTick = tick;
      this.#dropIfEmpty(latest);
    }
    const sharing = this.#entries.get(tick);
    if (sharing === undefined) this.#entries.set(tick, new Set([entry]));
    else sharing.add(entry);
    this.#count += 1;
    if (tick < this.#wakeTick) this.#wakeAt(tick);
    else if (this.#count === 1) this.#timer?.ref();
    return tick;
  }

  remove(entry: Expiring, tick: number): void {
    if (!this.#entries.get(tick)?.delete(entry)) return;
    if (tick !== this.#latestTick) this.#dropIfEmpty(tick);
    this.#count -= 1;
    // A process with nothing else to do need not wait for a deadline that no call has.
    if (this.#count === 0) this.#timer?.unref();
  }

  #dropIfEmpty(tick: number): void {
    if (this.#entries.get(tick)?.size === 0) this.#entries.delete(tick);
  }

  #wakeAt(tick: number): void {
    clearTimeout(this.#timer);
    this.#wakeTick = tick;
    const delayMs = Math.max(1, Math.ceil(tick * TICK_MS - performance.now()));
    this.#timer = setTimeout(() => this.#wake(), Math.min(delayMs, MAX_TIMER_MS));
  }

  #wake(): void {
    this.#timer = undefined;
    this.#wakeTick = Infinity;
    const now = performance.now() / TICK_MS;
    let next = Infinity;
    for (const [tick, entries] of this.#entries) {
      if (tick <= now) {
        this.#entries.delete(tick);
        this.#count -= entries.size;
        for (const entry of entries) entry.expire();
      } else if (entries.size === 0) this.#entries.delete(tick);
      else if (tick < next) next = tick;
    }
    if (next < this.#wakeTick) this.#wakeAt(next);
  }
}
