import { FairQueue } from './fair-queue';

export interface TurnstileOptions {
  /** Begun in one turn of the event loop that is no longer than usual. */
  readonly maxPerTurn: number;
  /** Behind a turn that took twice as long as this, twice as many begin: else refusals would leave no time for them. */
  readonly usualTurnMs: number;
  /** Begun behind a turn, however long it took. */
  readonly maxPerLongTurn: number;
  /** Once an owner's oldest has waited for longer, no more of that owner's are let in, in milliseconds. */
  readonly maxWaitMs: number;
  readonly maxWaiting: number;
  readonly maxWaitingOfOwner: number;
}

export interface TurnstilePorts {
  readonly now: () => number;
  /** Calls back in the next turn of the event loop, behind what that brings. */
  readonly inNextTurn: (callback: () => void) => void;
}

interface Waiting {
  readonly sinceMs: number;
  readonly isGone: () => boolean;
  readonly begin: () => void;
}

/**
 * Lets work begin, so much in each turn of the event loop. When more arrives
 * than can be done, what has begun still goes on quickly, and so does what must
 * not be late, such as leases: all that piles up is work that has not begun,
 * where owners take turns and the newest is refused.
 */
export class Turnstile {
  private readonly queue: FairQueue<Waiting>;
  /** In this turn. */
  private begun = 0;
  private allowed: number;
  /** Undefined when nothing has begun since the last turn. */
  private turnAwaitedSinceMs: number | undefined;

  constructor(
    private readonly ports: TurnstilePorts,
    private readonly options: TurnstileOptions,
  ) {
    const { maxPerTurn, maxWaiting: maxInAll, maxWaitingOfOwner: maxPerOwner } = options;
    this.allowed = maxPerTurn;
    this.queue = new FairQueue({ maxInAll, maxPerOwner });
  }

  /** How many wait to begin. */
  get waiting(): number {
    return this.queue.size;
  }

  /**
   * @param isGone whether nobody waits for it any more; such work begins at
   *   once, to find that out, and takes nobody's place.
   * @returns undefined when it may begin now, else a promise of when it may, or
   *   that there is too much.
   */
  enter(owner: string, isGone: () => boolean): Promise<void> | 'too_much' | undefined {
    if (this.queue.size === 0 && this.begun < this.allowed) {
      this.countOne();
      return undefined;
    }
    const sinceMs = this.ports.now();
    const oldest = this.queue.oldest(owner);
    if (oldest !== undefined && sinceMs - oldest.sinceMs > this.options.maxWaitMs) return 'too_much';
    let begin = (): void => undefined;
    const mayBegin = new Promise<void>((resolve) => (begin = resolve));
    return this.queue.add(owner, { sinceMs, isGone, begin }) ? mayBegin : 'too_much';
  }

  private countOne(): void {
    this.begun += 1;
    if (this.turnAwaitedSinceMs !== undefined) return;
    this.turnAwaitedSinceMs = this.ports.now();
    this.ports.inNextTurn(() => this.turn());
  }

  private turn(): void {
    const { maxPerTurn, usualTurnMs, maxPerLongTurn } = this.options;
    const tookMs = this.ports.now() - (this.turnAwaitedSinceMs ?? 0);
    this.turnAwaitedSinceMs = undefined;
    this.allowed = Math.min(maxPerLongTurn, maxPerTurn * Math.max(1, Math.floor(tookMs / usualTurnMs)));
    this.begun = 0;
    while (this.begun < this.allowed) {
      const next = this.queue.take();
      if (next === undefined) return;
      if (!next.isGone()) this.countOne();
      next.begin();
    }
  }
}
