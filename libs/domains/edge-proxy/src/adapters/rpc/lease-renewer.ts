import { ShortLivedSet } from '@gateway/base';
import type { Logger } from '@gateway/runtime';
import { limits } from '../../core';

export interface LeaseRenewerPorts<Ref> {
  /** For the log, such as "concurrency slots". */
  readonly what: string;
  /** Extends these leases; must be idempotent. */
  readonly renew: (refs: readonly Ref[]) => Promise<void>;
  readonly now: () => number;
  /** Interval of the check for due leases. */
  readonly tickMs: number;
  readonly log: Logger;
}

export interface LeaseRenewer<Ref> {
  /**
   * Renews the lease each time a third of it has passed.
   * @returns a function that ends the renewals; safe to call twice.
   */
  add(ref: Ref, leaseMs: number): () => void;
  start(): void;
  stop(): void;
}

interface RenewedLease<Ref> {
  readonly ref: Ref;
  readonly everyMs: number;
  dueMs: number;
}

const { maxRefsPerCall } = limits.leases;

/** One timer for the leases of all running requests. Most requests end before their first renewal. */
export function createLeaseRenewer<Ref>(ports: LeaseRenewerPorts<Ref>): LeaseRenewer<Ref> {
  const { what, renew, now, tickMs, log } = ports;
  const leases = new ShortLivedSet<RenewedLease<Ref>>();
  let timer: NodeJS.Timeout | undefined;
  let renewing = false;

  async function renewDue(): Promise<void> {
    // One renewal at a time. Leases that become due during a slow one are found by a later tick.
    if (renewing) return;
    renewing = true;
    try {
      const at = now();
      // Read before each call, as leases end during a call.
      for (;;) {
        const batch = [...leases].filter((lease) => lease.dueMs <= at).slice(0, maxRefsPerCall);
        if (batch.length === 0) break;
        await renew(batch.map(({ ref }) => ref));
        for (const lease of batch) lease.dueMs = at + lease.everyMs;
      }
    } catch (error) {
      log.warn({ err: error, what }, 'could not renew leases; retrying at the next tick');
    } finally {
      renewing = false;
    }
  }

  return {
    add: (ref, leaseMs) => {
      const everyMs = Math.max(1, Math.floor(leaseMs / 3));
      return leases.add({ ref, everyMs, dueMs: now() + everyMs });
    },
    start: () => {
      timer = setInterval(() => void renewDue(), tickMs);
      timer.unref();
    },
    stop: () => clearInterval(timer),
  };
}
