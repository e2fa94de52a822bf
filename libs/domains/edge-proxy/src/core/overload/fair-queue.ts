export interface FairQueueOptions {
  readonly maxPerOwner: number;
  readonly maxInAll: number;
}

/**
 * What waits, with an owner each. Owners take turns, so that however much waits
 * of one, the next of another is next but one for each owner before it.
 */
export class FairQueue<Item> {
  /** In the order of their turns; never an empty list. */
  private readonly waiting = new Map<string, Item[]>();
  private count = 0;

  constructor(private readonly options: FairQueueOptions) {}

  get size(): number {
    return this.count;
  }

  /** @returns whether there was room. */
  add(owner: string, item: Item): boolean {
    const own = this.waiting.get(owner);
    if (this.count >= this.options.maxInAll || (own?.length ?? 0) >= this.options.maxPerOwner) return false;
    if (own) own.push(item);
    else this.waiting.set(owner, [item]);
    this.count += 1;
    return true;
  }

  /** What of this owner has waited longest. */
  oldest(owner: string): Item | undefined {
    return this.waiting.get(owner)?.[0];
  }

  /** The oldest of the owner whose turn it is. */
  take(): Item | undefined {
    for (const [owner, own] of this.waiting) {
      const item = own.shift();
      this.count -= 1;
      this.waiting.delete(owner);
      // Back to the end of the line.
      if (own.length > 0) this.waiting.set(owner, own);
      return item;
    }
    return undefined;
  }

  /** Takes out one that shall not wait any longer; nothing happens when it does not wait. */
  remove(owner: string, item: Item): void {
    const own = this.waiting.get(owner);
    const at = own?.indexOf(item) ?? -1;
    if (!own || at < 0) return;
    own.splice(at, 1);
    this.count -= 1;
    if (own.length === 0) this.waiting.delete(owner);
  }
}
