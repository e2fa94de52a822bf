/**
 * Bounds the calls in flight at one provider, so that a slow provider cannot use all
 * sockets and memory. There is no queue: when it is full, the next target is tried.
 */
export class Bulkhead {
  private inUse = 0;

  get inFlight(): number {
    return this.inUse;
  }

  /** Takes a slot. @returns its release, safe to call twice; undefined when all slots are in use. */
  enter(limit: number): (() => void) | undefined {
    if (this.inUse >= limit) return undefined;
    this.inUse += 1;
    let holdsSlot = true;
    return () => {
      if (holdsSlot) this.inUse -= 1;
      holdsSlot = false;
    };
  }
}

/** One bulkhead per provider name. They survive catalogue reloads. */
export class Bulkheads {
  private readonly byProvider = new Map<string, Bulkhead>();

  /** Calls in flight at a provider. */
  inFlight(name: string): number {
    return this.byProvider.get(name)?.inFlight ?? 0;
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
