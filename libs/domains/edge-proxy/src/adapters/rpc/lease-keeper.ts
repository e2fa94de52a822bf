import type { Logger } from '@gateway/runtime';
import { limits } from '../../core';

export interface LeaseKeeperPorts<Ref> {
  /** For the log, such as "concurrency slots". */
  readonly what: string;
  /** Extends these leases; must be idempotent. */
  readonly renew: (refs: readonly Ref[]) => Promise<void>;
  readonly now: () => number;
  /** How often due leases are looked for. */
  readonly tickMs: number;
  readonly log: Logger;
}

export interface LeaseKeeper<Ref> {
  /**
   * Renews the lease, each time a third of it has passed.
   * @returns what to call when the lease is no longer needed; safe to call twice.
   */
  keep(ref: Ref, leaseMs: number): () => void;
  start(): void;
  stop(): void;
}

interface Kept<Ref> {
  /** Gone once it is no longer kept: a set may keep hold of an entry for a while after its deletion. */
  ref: Ref | undefined;
  readonly everyMs: number;
  dueMs: number;
}

const { maxRefsPerCall } = limits.leases;

/** One timer for the leases of all running requests; most requests end before theirs is ever due. */
export function createLeaseKeeper<Ref>(ports: LeaseKeeperPorts<Ref>): LeaseKeeper<Ref> {
  const { what, renew, now, tickMs, log } = ports;
  const kept = new Set<Kept<Ref>>();
  let timer: NodeJS.Timeout | undefined;
  let renewing = false;

  async function renewDue(): Promise<void> {
    // A slow renewal is waited for; the leases it left due are found by a later tick.
    if (renewing) return;
    renewing = true;
    try {
      const at = now();
      const due = [...kept].filter((lease) => lease.dueMs <= at);
      for (let start = 0; start < due.length; start += maxRefsPerCall) {
        const batch = due.slice(start, start + maxRefsPerCall);
        await renew(batch.flatMap(({ ref }) => (ref === undefined ? [] : [ref])));
        for (const lease of batch) lease.dueMs = at + lease.everyMs;
      }
    } catch (error) {
      log.warn({ err: error, what }, 'leases were not renewed; the next tick tries again');
    } finally {
      renewing = false;
    }
  }

  return {
    keep: (ref, leaseMs) => {
      const everyMs = Math.max(1, Math.floor(leaseMs / 3));
      const lease: Kept<Ref> = { ref, everyMs, dueMs: now() + everyMs };
      kept.add(lease);
      return () => {
        lease.ref = undefined;
        kept.delete(lease);
      };
    },
    start: () => {
      timer = setInterval(() => void renewDue(), tickMs);
      timer.unref();
    },
    stop: () => clearInterval(timer),
  };
}
