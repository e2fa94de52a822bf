import { FairQueue } from '@gateway/base';

export interface AdmissionQueueOptions {
  /** Grants per turn of the event loop that is not longer than usual. */
  readonly maxPerTurn: number;
  /** After a turn twice as long, twice as many are granted: else rejections would leave no time for grants. */
  readonly usualTurnMs: number;
  /** Grants per turn, however long it was. */
  readonly maxPerLongTurn: number;
  /** Once an owner's oldest entry has waited longer, that owner's new requests are rejected. */
  readonly maxWaitMs: number;
  readonly maxQueued: number;
  readonly maxQueuedPerOwner: number;
}

export interface AdmissionQueuePorts {
  readonly now: () => number;
  /** Calls back in the next turn of the event loop, after the input of that turn. */
  readonly inNextTurn: (callback: () => void) => void;
}

export type Admission =
  | { readonly kind: 'granted' }
  | { readonly kind: 'rejected' }
  /** `granted` resolves to true when the request may start or was cancelled, and to false when it lost its place. */
  | { readonly kind: 'queued'; readonly granted: Promise<boolean> };

interface Queued {
  readonly sinceMs: number;
  readonly isCancelled: () => boolean;
  readonly grant: (isGranted: boolean) => void;
}

const GRANTED: Admission = { kind: 'granted' };
const REJECTED: Admission = { kind: 'rejected' };

/**
 * Limits how many requests start per turn of the event loop. Under overload,
 * started requests, leases and health checks stay fast. The backlog consists of
 * requests that have not started: owners take turns, and the newest of the owner with the most is rejected.
 */
export class AdmissionQueue {
  private readonly queue: FairQueue<Queued>;
  private grantedInTurn = 0;
  private maxInTurn: number;
  /** Undefined while no next turn is scheduled. */
  private turnScheduledAtMs: number | undefined;

  constructor(
    private readonly ports: AdmissionQueuePorts,
    private readonly options: AdmissionQueueOptions,
  ) {
    const { maxPerTurn, maxQueued: maxTotal, maxQueuedPerOwner: maxPerOwner } = options;
    this.maxInTurn = maxPerTurn;
    this.queue = new FairQueue({ maxTotal, maxPerOwner, onDisplaced: ({ grant }) => grant(false) });
  }

  /** The number of queued requests. */
  get queuedCount(): number {
    return this.queue.size;
  }

  /** @param isCancelled a cancelled entry leaves the queue without using up a grant. */
  tryAcquire(owner: string, isCancelled: () => boolean): Admission {
    if (this.queue.size === 0 && this.grantedInTurn < this.maxInTurn) {
      this.countGrant();
      return GRANTED;
    }
    const sinceMs = this.ports.now();
    const oldest = this.queue.oldest(owner);
    if (oldest !== undefined && sinceMs - oldest.sinceMs > this.options.maxWaitMs) return REJECTED;
    let grant: Queued['grant'] = () => undefined;
    const granted = new Promise<boolean>((resolve) => (grant = resolve));
    return this.queue.add(owner, { sinceMs, isCancelled, grant }) ? { kind: 'queued', granted } : REJECTED;
  }

  private countGrant(): void {
    this.grantedInTurn += 1;
    if (this.turnScheduledAtMs !== undefined) return;
    this.turnScheduledAtMs = this.ports.now();
    this.ports.inNextTurn(() => this.startTurn());
  }

  private startTurn(): void {
    const { maxPerTurn, usualTurnMs, maxPerLongTurn } = this.options;
    const lastTurnMs = this.ports.now() - (this.turnScheduledAtMs ?? 0);
    this.turnScheduledAtMs = undefined;
    this.maxInTurn = Math.min(maxPerLongTurn, maxPerTurn * Math.max(1, Math.floor(lastTurnMs / usualTurnMs)));
    this.grantedInTurn = 0;
    while (this.grantedInTurn < this.maxInTurn) {
      const next = this.queue.take();
      if (next === undefined) return;
      if (!next.isCancelled()) this.countGrant();
      next.grant(true);
    }
  }
}
