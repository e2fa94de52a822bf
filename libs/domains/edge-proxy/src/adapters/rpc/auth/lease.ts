import type { Clock } from '@gateway/base';

/** A moment on both of an edge's clocks, in milliseconds. */
export interface Moment {
  readonly monotonicMs: number;
  readonly wallMs: number;
}

/** Kept back of each lease, for clocks that do not run at quite the same rate. */
const SAFETY_SHARE = 0.02;

/**
 * Until when auth waits for this edge before it takes a revocation as heard
 * everywhere; the edge's view of it, which ends before auth's. Both clocks must
 * agree that it runs: the monotonic one stands still while a machine sleeps,
 * the wall clock may be set back.
 */
export class Lease {
  private endsMonotonicMs = -Infinity;
  private endsWallMs = -Infinity;

  constructor(
    private readonly clock: Clock,
    private readonly monotonicNow: () => number,
  ) {}

  now(): Moment {
    return { monotonicMs: this.monotonicNow(), wallMs: this.clock.now() };
  }

  isLive(): boolean {
    return this.monotonicNow() < this.endsMonotonicMs && this.clock.now() < this.endsWallMs;
  }

  /** Milliseconds left by the monotonic clock. */
  remainingMs(): number {
    return Math.max(0, this.endsMonotonicMs - this.monotonicNow());
  }

  /** A lease of `leaseMs` was granted to a call that was sent at `sentAt`. Never shortens. */
  extend(sentAt: Moment, leaseMs: number): void {
    const usableMs = leaseMs * (1 - SAFETY_SHARE);
    this.endsMonotonicMs = Math.max(this.endsMonotonicMs, sentAt.monotonicMs + usableMs);
    this.endsWallMs = Math.max(this.endsWallMs, sentAt.wallMs + usableMs);
  }

  end(): void {
    this.endsMonotonicMs = -Infinity;
    this.endsWallMs = -Infinity;
  }
}
