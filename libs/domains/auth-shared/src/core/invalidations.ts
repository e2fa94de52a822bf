import type { CancelSignal } from '@gateway/base';

/** The cached entries that an edge must evict. */
export type InvalidationTarget =
  | { readonly kind: 'all' }
  | { readonly kind: 'key'; readonly sha256: Buffer }
  | { readonly kind: 'organization'; readonly id: string };

export interface Invalidation {
  readonly sequence: bigint;
  readonly target: InvalidationTarget;
}

/**
 * The leases under which edges use their caches. Every auth replica sees them,
 * and the store's clock measures them.
 */
export interface EdgeLeases {
  /**
   * Registers the edge's newest watch and returns the sequence number after
   * which the watch starts. It counts as acknowledged: the edge clears its
   * cache on the watch's first message.
   */
  open(edgeId: string, watchId: string, leaseMs: number): Promise<bigint>;
  /** Records the end of the watch, unless a newer watch has replaced it. */
  close(edgeId: string, watchId: string): Promise<void>;
  /**
   * Records the acknowledgement and returns the remaining milliseconds of the
   * edge's lease; 0 when it has no open watch. The lease is never extended
   * further than `leaseMs` past the oldest unacknowledged invalidation.
   */
  renew(edgeId: string, acknowledgedSequence: bigint, leaseMs: number): Promise<number>;
  /** Milliseconds until the last valid lease that has not acknowledged `sequence` expires; 0 when there is none. */
  unacknowledgedForMs(sequence: bigint): Promise<number>;
}

/** Delivers committed invalidations and notifications of acknowledgements to this process. */
export interface InvalidationFeed {
  /**
   * Waits for invalidations after `sequence` and returns them in order and
   * without gaps. If some are no longer buffered, returns a single one for the
   * whole cache. Empty once `signal` aborts or the feed stops.
   */
  after(sequence: bigint, signal: CancelSignal): Promise<readonly Invalidation[]>;
  /** Resolves when an edge acknowledges an invalidation, after `maxMs`, or when `signal` aborts. */
  acknowledged(maxMs: number, signal: CancelSignal): Promise<void>;
}
