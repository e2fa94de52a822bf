import type { CancelSignal } from '@gateway/base';
/** What immediate revocation needs from outside. */

/** What an edge has to forget. */
export type InvalidationTarget =
  | { readonly kind: 'all' }
  | { readonly kind: 'key'; readonly sha256: Buffer }
  | { readonly kind: 'organization'; readonly id: string };

export interface Invalidation {
  readonly sequence: bigint;
  readonly target: InvalidationTarget;
}

/**
 * The leases under which edges use what they remember. Kept where every auth
 * replica sees them; all times are that store's own clock's.
 */
export interface EdgeLeases {
  /**
   * Registers the edge's newest watch and answers the sequence number that the
   * watch starts after. The edge is taken to have acknowledged it, since it
   * uses nothing from before the watch's first message.
   */
  open(edgeId: string, watchId: string, leaseMs: number): Promise<bigint>;
  /** Notes that the watch has ended, unless a newer one has taken its place. */
  close(edgeId: string, watchId: string): Promise<void>;
  /**
   * Notes the acknowledgement and answers for how many milliseconds the edge
   * may count on its lease; 0 when it has no open watch. The lease never runs
   * longer than `leaseMs` past the oldest invalidation that is not acknowledged.
   */
  renew(edgeId: string, acknowledgedSequence: bigint, leaseMs: number): Promise<number>;
  /** Milliseconds until the last running lease that has not acknowledged `sequence` runs out; 0 when there is none. */
  unacknowledgedForMs(sequence: bigint): Promise<number>;
}

/** Brings committed invalidations, and word of acknowledgements, to this process. */
export interface InvalidationFeed {
  /**
   * The invalidations after `sequence`, in order and without gaps, waiting for
   * the first; when some are no longer known, a single one that says to forget
   * all. Empty once `signal` aborts or the feed stops.
   */
  after(sequence: bigint, signal: CancelSignal): Promise<readonly Invalidation[]>;
  /** Resolves when an edge acknowledged something, after `maxMs`, or when `signal` aborts. */
  acknowledged(maxMs: number, signal: CancelSignal): Promise<void>;
}
