/**
 * Bounds the calls under way at one provider, so that a slow one cannot take
 * every socket and all memory. Nobody waits: a caller that finds it full goes
 * to the next target.
 */
export class Bulkhead {
  private inUse = 0;

  get underWay(): number {
    return this.inUse;
  }

  /** Takes a slot; its release, safe to call twice, or undefined when all are in use. */
  enter(limit: number): (() => void) | undefined {
    if (this.inUse >= limit) return undefined;
    this.inUse += 1;
    let inside = true;
    return () => {
      if (inside) this.inUse -= 1;
      inside = false;
    };
  }
}

/** One bulkhead per provider name; they outlive a change of the catalogue. */
export class Bulkheads {
  private readonly byProvider = new Map<string, Bulkhead>();

  /** Calls under way at a provider. */
  underWay(name: string): number {
    return this.byProvider.get(name)?.underWay ?? 0;
  }

  enter(provider: { readonly name: string; readonly maxConcurrent: number }): (() => void) | undefined {
    let bulkhead = this.byProvider.get(provider.name);
    if (!bulkhead) {
      bulkhead = new Bulkhead();
      this.byProvider.set(provider.name, bulkhead);
    }
    return bulkhead.enter(provider.maxConcurrent);
  }
}
