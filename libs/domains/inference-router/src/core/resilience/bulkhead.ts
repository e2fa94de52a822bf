/**
 * An organization may use this many slots for each free one. So one alone gets 7 of 8 slots, and two get 7 of 15 each:
 * slots for further organizations stay free.
 */
const SLOTS_PER_FREE_SLOT = 7;

/**
 * Bounds the calls in flight at one provider, so that a slow provider cannot use all
 * sockets and memory. There is no queue: when it is full, the next target is tried.
 * Organizations share the slots fairly, as the dynamic thresholds of a switch share its buffer among ports.
 */
export class Bulkhead {
  private inUse = 0;
  /** Only organizations with slots have an entry. */
  private readonly byOrganization = new Map<string, number>();

  get inFlight(): number {
    return this.inUse;
  }

  /** Takes a slot. @returns its release, safe to call twice; undefined when the organization gets no slot. */
  enter(limit: number, organizationId: string): (() => void) | undefined {
    const own = this.byOrganization.get(organizationId) ?? 0;
    if (own >= SLOTS_PER_FREE_SLOT * (limit - this.inUse)) return undefined;
    this.inUse += 1;
    this.byOrganization.set(organizationId, own + 1);
    let holdsSlot = true;
    return () => {
      if (holdsSlot) this.leave(organizationId);
      holdsSlot = false;
    };
  }

  private leave(organizationId: string): void {
    this.inUse -= 1;
    const left = (this.byOrganization.get(organizationId) ?? 0) - 1;
    if (left > 0) this.byOrganization.set(organizationId, left);
    else this.byOrganization.delete(organizationId);
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
