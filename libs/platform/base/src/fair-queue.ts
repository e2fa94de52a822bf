export interface FairQueueOptions {
  readonly maxPerOwner: number;
  readonly maxTotal: number;
}

/**
 * A queue whose owners take turns (round-robin). An owner with many items
 * delays each other owner by one item per turn.
 */
export class FairQueue<Item> {
  /** In the order of their turns; no list is empty. */
  private readonly itemsByOwner = new Map<string, Item[]>();
  private count = 0;

  constructor(private readonly options: FairQueueOptions) {}

  get size(): number {
    return this.count;
  }

  /** @returns whether there was room. */
  add(owner: string, item: Item): boolean {
    const own = this.itemsByOwner.get(owner);
    if (this.count >= this.options.maxTotal || (own?.length ?? 0) >= this.options.maxPerOwner) return false;
    if (own) own.push(item);
    else this.itemsByOwner.set(owner, [item]);
    this.count += 1;
    return true;
  }

  /** The owner's oldest item. */
  oldest(owner: string): Item | undefined {
    return this.itemsByOwner.get(owner)?.[0];
  }

  /** Removes and returns the oldest item of the owner whose turn it is. */
  take(): Item | undefined {
    for (const [owner, own] of this.itemsByOwner) {
      const item = own.shift();
      this.count -= 1;
      this.itemsByOwner.delete(owner);
      if (own.length > 0) this.itemsByOwner.set(owner, own);
      return item;
    }
    return undefined;
  }

  /** Removes an item; no effect when it is not queued. */
  remove(owner: string, item: Item): void {
    const own = this.itemsByOwner.get(owner);
    const at = own?.indexOf(item) ?? -1;
    if (!own || at < 0) return;
    own.splice(at, 1);
    this.count -= 1;
    if (own.length === 0) this.itemsByOwner.delete(owner);
  }
}
