/**
 * An owner may use this much for each free unit. So one alone gets 7 of 8 units, and two get 7 of 15 each: units for
 * further owners stay free.
 */
const UNITS_PER_FREE_UNIT = 7;

/**
 * Shares a capacity fairly among owners, as the dynamic thresholds of a switch share its buffer among ports. It bounds
 * and does not queue.
 */
export class FairShares {
  private total = 0;
  /** Only owners that use some have an entry. */
  private readonly byOwner = new Map<string, number>();

  /** Units in use. */
  get inUse(): number {
    return this.total;
  }

  /**
   * @param taken - what an item that grows has taken before, so that one alone may take the whole capacity.
   * @returns whether the owner has taken the amount.
   */
  take(owner: string, amount: number, capacity: number, taken = 0): boolean {
    const free = capacity - this.total;
    const own = this.byOwner.get(owner) ?? 0;
    if (amount > free || own - taken >= UNITS_PER_FREE_UNIT * free) return false;
    this.total += amount;
    this.byOwner.set(owner, own + amount);
    return true;
  }

  /** Returns some of what the owner has taken. */
  release(owner: string, amount: number): void {
    this.total -= amount;
    const left = (this.byOwner.get(owner) ?? 0) - amount;
    if (left > 0) this.byOwner.set(owner, left);
    else this.byOwner.delete(owner);
  }
}
