import { FairShares } from '@gateway/base';

/**
 * Bounds the calls in flight at one provider, so that a slow provider cannot use all
 * sockets and memory. There is no queue: when it is full, the next target is tried.
 * Organizations share the slots fairly.
 */
export class Bulkhead {
  private readonly slots = new FairShares();

  get inFlight(): number {
    return this.slots.inUse;
  }

  /** Takes a slot. @returns its release, safe to call twice; undefined when the organization gets no slot. */
  enter(limit: number, organizationId: string): (() => void) | undefined {
    if (!this.slots.take(organizationId, 1, limit)) return undefined;
    let holdsSlot = true;
    return () => {
      if (holdsSlot) this.slots.release(organizationId, 1);
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

  enter(
    provider: { readonly name: string; readonly maxConcurrent: number },
    organizationId: string,
  ): (() => void) | undefined {
    let bulkhead = this.byProvider.get(provider.name);
    if (!bulkhead) {
      bulkhead = new Bulkhead();
      this.byProvider.set(provider.name, bulkhead);
    }
    return bulkhead.enter(provider.maxConcurrent, organizationId);
  }
}
