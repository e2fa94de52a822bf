import CircuitBreaker from 'opossum';
import type { Clock } from '@gateway/base';
import { toUpstreamFailure } from '../../core/failure/upstream-failure';

export type BreakerState = 'closed' | 'half_open' | 'open';

type Action = () => Promise<unknown>;

export interface CircuitPorts {
  readonly name: string;
  readonly clock: Clock;
  /** After this an open circuit lets one call try, in milliseconds. */
  readonly retryAfterMs: number;
  /** Whether several organizations share it. After a trial in vain the next one is then another's, if one asks in time. */
  readonly isShared: boolean;
  readonly onStateChange: (state: BreakerState) => void;
}

/**
 * A circuit's states, kept by opossum; when it opens is decided outside, since
 * opossum cannot tell whose calls failed. Only trials run through it.
 *
 * A trial that takes long is in vain as well: who provokes failures, or has slow
 * requests, cannot keep a circuit open for others by always being first.
 */
export class Circuit {
  private readonly breaker: CircuitBreaker<[Action], unknown>;
  private lastInVain: { readonly organizationId: string; readonly until: number } | undefined;

  constructor(private readonly ports: CircuitPorts) {
    const { name, retryAfterMs, onStateChange } = ports;
    this.breaker = new CircuitBreaker((action: Action) => action(), {
      name,
      timeout: false,
      volumeThreshold: Number.MAX_SAFE_INTEGER,
      enableSnapshots: false,
      rollingPercentilesEnabled: false,
      resetTimeout: retryAfterMs,
      errorFilter: (error) => {
        const { kind, rule } = toUpstreamFailure(error);
        // A cancelled trial has shown nothing about the target.
        return !rule.tripsBreaker && kind !== 'cancelled';
      },
    });
    this.breaker.on('open', () => onStateChange('open'));
    this.breaker.on('halfOpen', () => onStateChange('half_open'));
    this.breaker.on('close', () => onStateChange('closed'));
  }

  get state(): BreakerState {
    if (this.breaker.closed) return 'closed';
    return this.breaker.pendingClose || this.breaker.halfOpen ? 'half_open' : 'open';
  }

  get isClosed(): boolean {
    return this.breaker.closed;
  }

  /** Whether a call of this organization may run now, be it as the trial. */
  admits(organizationId: string): boolean {
    if (this.breaker.closed) return true;
    // With opossum a half-open circuit has "pendingClose" until its trial begins.
    if (!this.breaker.pendingClose) return false;
    const { lastInVain, ports } = this;
    return lastInVain?.organizationId !== organizationId || ports.clock.now() >= lastInVain.until;
  }

  /** Runs an admitted call. */
  async run<Result>(organizationId: string, action: () => Promise<Result>): Promise<Result> {
    if (this.breaker.closed) return action();
    const slow = setTimeout(() => {
      this.failedTrial(organizationId);
      this.breaker.open();
    }, this.ports.retryAfterMs);
    slow.unref();
    try {
      const result = (await this.breaker.fire(action)) as Result;
      // A slow trial may find the circuit open again; it has shown that the target works.
      this.close();
      return result;
    } catch (error) {
      if (!this.breaker.closed) this.failedTrial(organizationId);
      throw error;
    } finally {
      clearTimeout(slow);
    }
  }

  open(): void {
    this.breaker.open();
  }

  close(): void {
    this.lastInVain = undefined;
    this.breaker.close();
  }

  /** Ends its timers; no call may follow. */
  shutdown(): void {
    this.breaker.shutdown();
  }

  private failedTrial(organizationId: string): void {
    if (!this.ports.isShared) return;
    // The circuit is open for one such time, and for another one somebody else may try first.
    this.lastInVain = { organizationId, until: this.ports.clock.now() + 2 * this.ports.retryAfterMs };
  }
}
