import CircuitBreaker from 'opossum';
import type { Clock } from '@gateway/base';
import { targetKey, type Target } from '../../core/catalogue/model-catalogue';
import { toUpstreamFailure, UpstreamFailure } from '../../core/failure/upstream-failure';
import type { BreakerStatus, CircuitBreakers } from '../../core/ports';

export type BreakerState = BreakerStatus['state'];

/** A subset of opossum's options. */
export interface BreakerOptions {
  /** A circuit opens when more than this percentage of the calls in the window failed. */
  readonly errorThresholdPercentage: number;
  /** A circuit stays closed with fewer calls than this in the window. */
  readonly volumeThreshold: number;
  /** Length of the window, in milliseconds. */
  readonly rollingCountTimeout: number;
  /** How long a circuit stays open before it admits one trial call, in milliseconds. */
  readonly resetTimeout: number;
}

const DEFAULT_BREAKER: BreakerOptions = {
  errorThresholdPercentage: 50,
  volumeThreshold: 20,
  rollingCountTimeout: 10_000,
  resetTimeout: 10_000,
};

/** Organization circuits per target. Beyond the limit one is dropped, preferably a closed one. */
export const MAX_ORGANIZATION_CIRCUITS = 100;

/** Receives state changes, for metrics and logs. Must not throw or block. */
export interface BreakerObserver {
  /** The circuit that all organizations share changed its state. */
  stateChanged(target: Target, state: BreakerState): void;
  /** One organization's circuit changed its state. `notClosed` is the number of such circuits of the target. */
  organizationStateChanged(
    target: Target,
    organizationId: string,
    state: BreakerState,
    notClosed: number,
  ): void;
}

export interface OpossumBreakersPorts {
  readonly clock: Clock;
  readonly options?: Partial<BreakerOptions>;
  readonly observer?: BreakerObserver;
}

/** Each target has one shared circuit, and one per organization whose calls failed. */
export function createOpossumBreakers({ clock, options, observer }: OpossumBreakersPorts): CircuitBreakers {
  const settings: BreakerOptions = { ...DEFAULT_BREAKER, ...options };
  const targets = new Map<string, TargetCircuits>();
  return {
    run(target, organizationId, action) {
      const key = targetKey(target);
      let circuits = targets.get(key);
      if (!circuits) {
        circuits = new TargetCircuits(target, settings, clock, observer);
        targets.set(key, circuits);
      }
      return circuits.run(organizationId, action);
    },
    stateOf: (target) => targets.get(targetKey(target))?.status ?? { state: 'closed', organizationsOpen: 0 },
    close() {
      for (const circuits of targets.values()) circuits.shutdown();
      targets.clear();
    },
  };
}

type Action = () => Promise<unknown>;
type Breaker = CircuitBreaker<[Action, string], unknown>;

/**
 * opossum counts calls and holds the states. This class decides which failures
 * count: in the shared circuit, consecutive failures of one organization count
 * once, so that one organization cannot open it.
 */
class TargetCircuits {
  private readonly shared: Breaker;
  /** Created by an organization's first failure. */
  private readonly own = new Map<string, Breaker>();
  private lastFailure: { readonly organizationId: string; readonly at: number } | undefined;

  constructor(
    private readonly target: Target,
    private readonly options: BreakerOptions,
    private readonly clock: Clock,
    private readonly observer: BreakerObserver | undefined,
  ) {
    this.shared = this.createBreaker(
      (error, organizationId) =>
        counts(error, this.shared) &&
        !(this.shared.closed && organizationId === this.lastFailure?.organizationId),
      (state) => observer?.stateChanged(target, state),
    );
    this.shared.on('failure', (_error, _latencyMs, args) => {
      this.failed(args[1]);
    });
  }

  async run<Result>(organizationId: string, action: () => Promise<Result>): Promise<Result> {
    const { shared } = this;
    const own = this.own.get(organizationId);
    // Checked before `fire`: opossum would count a rejected call as a success.
    if (!admits(shared) || this.mustYieldTrial(organizationId) || (own && !admits(own))) {
      throw new UpstreamFailure('circuit_open', { detail: `${targetKey(this.target)}: circuit is open` });
    }
    try {
      const throughOwn = own ? () => this.fire(own, organizationId, action) : action;
      return (await this.fire(shared, organizationId, throughOwn)) as Result;
    } catch (error) {
      if (!own && toUpstreamFailure(error).rule.tripsBreaker) this.startCounting(organizationId, error);
      throw error;
    }
  }

  get status(): BreakerStatus {
    return { state: stateOf(this.shared), organizationsOpen: this.organizationsOpen };
  }

  shutdown(): void {
    this.shared.shutdown();
    for (const breaker of this.own.values()) breaker.shutdown();
  }

  private get organizationsOpen(): number {
    return [...this.own.values()].filter(({ closed }) => !closed).length;
  }

  /** After a failed trial, this organization runs no further trial for one more `resetTimeout`. */
  private mustYieldTrial(organizationId: string): boolean {
    const { shared, lastFailure } = this;
    if (shared.closed || lastFailure?.organizationId !== organizationId) return false;
    return this.clock.now() < lastFailure.at + 2 * this.options.resetTimeout;
  }

  private async fire(breaker: Breaker, organizationId: string, action: Action): Promise<unknown> {
    if (breaker.closed) return breaker.fire(action, organizationId);
    // A slow trial reopens the circuit, so that another trial follows. It still closes the circuit when it succeeds.
    const slow = setTimeout(() => {
      if (!breaker.halfOpen) return;
      if (breaker === this.shared) this.failed(organizationId);
      breaker.open();
    }, this.options.resetTimeout).unref();
    try {
      const result = await breaker.fire(action, organizationId);
      breaker.close();
      return result;
    } finally {
      clearTimeout(slow);
    }
  }

  private failed(organizationId: string): void {
    this.lastFailure = { organizationId, at: this.clock.now() };
  }

  private startCounting(organizationId: string, firstFailure: unknown): void {
    if (this.own.has(organizationId)) return;
    if (this.own.size >= MAX_ORGANIZATION_CIRCUITS) this.dropOne();
    const breaker = this.createBreaker(
      (error) => counts(error, breaker),
      (state) => {
        if (state === 'closed') this.drop(organizationId, breaker);
        this.observer?.organizationStateChanged(this.target, organizationId, state, this.organizationsOpen);
      },
    );
    this.own.set(organizationId, breaker);
    breaker.fire(() => Promise.reject(firstFailure), organizationId).catch(() => undefined);
  }

  private dropOne(): void {
    const entries = [...this.own];
    const [organizationId, breaker] = entries.find(([, { closed }]) => closed) ?? entries[0] ?? [];
    if (organizationId === undefined || !breaker) return;
    if (breaker.closed) this.drop(organizationId, breaker);
    else breaker.close();
  }

  private drop(organizationId: string, breaker: Breaker): void {
    this.own.delete(organizationId);
    breaker.shutdown();
  }

  private createBreaker(
    isFailure: (error: unknown, organizationId: string) => boolean,
    onStateChange: (state: BreakerState) => void,
  ): Breaker {
    const breaker: Breaker = new CircuitBreaker((action: Action, _organizationId: string) => action(), {
      ...this.options,
      name: targetKey(this.target),
      timeout: false,
      enableSnapshots: false,
      rollingPercentilesEnabled: false,
      // opossum also passes the arguments of `fire`, which its types omit.
      errorFilter: (error: unknown, ...args: unknown[]) => !isFailure(error, args[1] as string),
    });
    breaker.on('open', () => onStateChange('open'));
    breaker.on('halfOpen', () => onStateChange('half_open'));
    breaker.on('close', () => onStateChange('closed'));
    return breaker;
  }
}

/** A cancelled trial says nothing about the target, so it does not close a circuit. */
function counts(error: unknown, breaker: Breaker): boolean {
  const { kind, rule } = toUpstreamFailure(error);
  return rule.tripsBreaker || (kind === 'cancelled' && !breaker.closed);
}

/** opossum reports a half-open circuit as "pending close" until its trial starts. */
function admits({ closed, pendingClose }: Breaker): boolean {
  return closed || pendingClose;
}

function stateOf({ closed, halfOpen }: Breaker): BreakerState {
  if (closed) return 'closed';
  return halfOpen ? 'half_open' : 'open';
}
