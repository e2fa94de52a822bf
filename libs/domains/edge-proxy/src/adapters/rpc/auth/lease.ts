import type { Clock } from '@gateway/base';

/** A reading of both clocks of an edge, in milliseconds. */
export interface ClockReading {
  readonly monotonicMs: number;
  readonly wallMs: number;
}

/** Share of each lease that is not used, for clocks that run at different rates. */
const SAFETY_SHARE = 0.02;

/**
 * The edge's view of its lease from auth, which ends before auth's own view.
 * While it is valid, auth waits for this edge before it confirms a revocation.
 * Both clocks must agree: the monotonic clock may stop while a machine sleeps,
 * and the wall clock may be set back.
 */
export class Lease {
  private endsMonotonicMs = -Infinity;
  private endsWallMs = -Infinity;

  constructor(
    private readonly clock: Clock,
    private readonly monotonicNow: () => number,
  ) {}

  now(): ClockReading {
    return { monotonicMs: this.monotonicNow(), wallMs: this.clock.now() };
  }

  isValid(): boolean {
    return this.monotonicNow() < this.endsMonotonicMs && this.clock.now() < this.endsWallMs;
  }

  /** Milliseconds left on the monotonic clock. */
  remainingMs(): number {
    return Math.max(0, this.endsMonotonicMs - this.monotonicNow());
  }

  /** Records a lease of `leaseMs`, granted to a call sent at `sentAt`. Never shortens the lease. */
  extend(sentAt: ClockReading, leaseMs: number): void {
    const usableMs = leaseMs * (1 - SAFETY_SHARE);
    this.endsMonotonicMs = Math.max(this.endsMonotonicMs, sentAt.monotonicMs + usableMs);
    this.endsWallMs = Math.max(this.endsWallMs, sentAt.wallMs + usableMs);
  }

  end(): void {
    this.endsMonotonicMs = -Infinity;
    this.endsWallMs = -Infinity;
  }
}
