/**
 * Which names were added lately. Of the last `maxNames` at least half are
 * remembered, and never more than that many: when the younger half is full, the
 * older is dropped.
 */
export class RecentNames {
  private younger = new Set<string>();
  private older = new Set<string>();
  private readonly maxHalf: number;

  constructor(maxNames: number) {
    this.maxHalf = Math.max(1, Math.floor(maxNames / 2));
  }

  get size(): number {
    return this.younger.size + this.older.size;
  }

  add(name: string): void {
    if (this.younger.has(name)) return;
    this.older.delete(name);
    if (this.younger.size >= this.maxHalf) {
      this.older = this.younger;
      this.younger = new Set();
    }
    this.younger.add(name);
  }

  /** To be asked for is to be young again. */
  has(name: string): boolean {
    if (this.younger.has(name)) return true;
    if (!this.older.has(name)) return false;
    this.add(name);
    return true;
  }
}
