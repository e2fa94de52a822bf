export interface FairQueueOptions<Item> {
  readonly maxPerOwner: number;
  readonly maxTotal: number;
  /** Called with an item that lost its place to another owner's. */
  readonly onDisplaced: (item: Item) => void;
}

/**
 * A queue whose owners take turns (round-robin). An owner with many items
 * delays each other owner by one item per turn. When the queue is full, the owner with the most items gives up its newest
 * one for an owner with fewer.
 */
export class FairQueue<Item> {
  /** In the order of their turns; no list is empty. */
  private readonly itemsByOwner = new Map<string, Item[]>();
  private count = 0;

  constructor(private readonly options: FairQueueOptions<Item>) {}

  get size(): number {
    return this.count;
  }

  /** @returns whether there was room. */
  add(owner: string, item: Item): boolean {
    const length = this.itemsByOwner.get(owner)?.length ?? 0;
    if (length >= this.options.maxPerOwner) return false;
    if (this.count >= this.options.maxTotal && !this.displace(length)) return false;
    const own = this.itemsByOwner.get(owner);
    if (own) own.push(item);
    else this.itemsByOwner.set(owner, [item]);
    this.count += 1;
    return true;
  }

  /** @returns whether the owner with the most items had two more than `length`, and gave up its newest one. */
  private displace(length: number): boolean {
    let longest: Item[] = [];
    for (const items of this.itemsByOwner.values()) if (items.length > longest.length) longest = items;
    if (longest.length < length + 2) return false;
    this.count -= 1;
    this.options.onDisplaced(longest.pop() as Item);
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
