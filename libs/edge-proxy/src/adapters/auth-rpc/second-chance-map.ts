interface Entry<Value> {
  readonly value: Value;
  /** Read since it was last passed over for eviction. */
  used: boolean;
}

/**
 * A bounded map that drops what was not read lately. A read only sets a flag;
 * the order is put right when room is needed: what was read gets a second
 * chance at the end of the line (the "clock" approximation of LRU).
 */
export class SecondChanceMap<Value> {
  private readonly entries = new Map<string, Entry<Value>>();

  constructor(private readonly maxEntries: number) {}

  get size(): number {
    return this.entries.size;
  }

  get(key: string): Value | undefined {
    const entry = this.entries.get(key);
    if (entry === undefined) return undefined;
    entry.used = true;
    return entry.value;
  }

  set(key: string, value: Value): void {
    if (this.maxEntries <= 0) return;
    this.entries.delete(key);
    if (this.entries.size >= this.maxEntries) this.evictOne();
    this.entries.set(key, { value, used: false });
  }

  delete(key: string): void {
    this.entries.delete(key);
  }

  /** Drops every entry whose value is like this. Takes time with the size of the map. */
  deleteWhere(matches: (value: Value) => boolean): void {
    for (const [key, { value }] of this.entries) {
      if (matches(value)) this.entries.delete(key);
    }
  }

  clear(): void {
    this.entries.clear();
  }

  /** Ends after one round at most, in which every flag was cleared. */
  private evictOne(): void {
    for (const [key, entry] of this.entries) {
      this.entries.delete(key);
      if (!entry.used) return;
      entry.used = false;
      this.entries.set(key, entry);
    }
  }
}
