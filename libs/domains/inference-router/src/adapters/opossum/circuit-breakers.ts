import type { Clock } from '@gateway/base';
import { targetKey, type Target } from '../../core/catalogue/model-catalogue';
import type { BreakerStatus, CircuitBreakers } from '../../core/ports';
import { FailureWindow, type FailureWindowOptions } from '../../core/resilience/failure-window';
import { toUpstreamFailure, UpstreamFailure } from '../../core/failure/upstream-failure';
import { Circuit, type BreakerState } from './circuit';

export interface BreakerOptions extends FailureWindowOptions {
  /** After this an open circuit lets one call try. */
  readonly retryAfterMs: number;
}

export const DEFAULT_BREAKER: BreakerOptions = {
  failurePercent: 50,
  minCalls: 20,
  windowMs: 10_000,
  retryAfterMs: 10_000,
};

/** Circuits of single organizations kept for one target; above it the oldest is closed. */
export const MAX_ORGANIZATION_CIRCUITS = 100;

/** Told of changes, for metrics and logs. Must not throw or wait. */
export interface BreakerObserver {
  /** Of the circuit that a target has for all. */
  stateChanged(target: Target, state: BreakerState): void;
  /** Of the circuit that a target has for one organization; `notClosed` counts those of the target. */
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

/** The circuits of each target: one for all, and one for each organization whose own calls fail. */
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

class TargetCircuits {
  private readonly window: FailureWindow;
  private readonly forAll: Circuit;
  /** Of organizations whose circuit is not closed. */
  private readonly own = new Map<string, Circuit>();

  constructor(
    private readonly target: Target,
    private readonly settings: BreakerOptions,
    private readonly clock: Clock,
    private readonly observer: BreakerObserver | undefined,
  ) {
    this.window = new FailureWindow(settings, clock);
    this.forAll = this.circuit(true, (state) => {
      if (state === 'closed') this.window.clear();
      observer?.stateChanged(target, state);
    });
  }

  async run<Result>(organizationId: string, action: () => Promise<Result>): Promise<Result> {
    const { forAll } = this;
    const own = this.own.get(organizationId);
    if (!forAll.admits(organizationId) || own?.admits(organizationId) === false) {
      throw new UpstreamFailure('circuit_open', { detail: `${targetKey(this.target)}: circuit is open` });
    }
    try {
      const result = await forAll.run(organizationId, own ? () => own.run(organizationId, action) : action);
      this.window.count(organizationId, false);
      return result;
    } catch (error) {
      this.failed(organizationId, toUpstreamFailure(error));
      throw error;
    }
  }

  get status(): BreakerStatus {
    return { state: this.forAll.state, organizationsOpen: this.own.size };
  }

  shutdown(): void {
    this.forAll.shutdown();
    for (const circuit of this.own.values()) circuit.shutdown();
  }

  private failed(organizationId: string, { kind, rule }: UpstreamFailure): void {
    // What was cancelled has shown nothing, neither good nor bad.
    if (kind === 'cancelled') return;
    this.window.count(organizationId, rule.tripsBreaker);
    if (!rule.tripsBreaker || !this.forAll.isClosed) return;
    if (this.window.isFailingForAll()) this.forAll.open();
    else if (!this.own.has(organizationId) && this.window.isFailingFor(organizationId)) {
      this.openFor(organizationId);
    }
  }

  private openFor(organizationId: string): void {
    if (this.own.size >= MAX_ORGANIZATION_CIRCUITS) {
      for (const oldest of this.own.values()) {
        oldest.close();
        break;
      }
    }
    const circuit = this.circuit(false, (state) => {
      if (state === 'closed') {
        this.own.delete(organizationId);
        this.window.forget(organizationId);
        circuit.shutdown();
      }
      this.observer?.organizationStateChanged(this.target, organizationId, state, this.own.size);
    });
    this.own.set(organizationId, circuit);
    circuit.open();
  }

  private circuit(isShared: boolean, onStateChange: (state: BreakerState) => void): Circuit {
    const { clock, settings, target } = this;
    const { retryAfterMs } = settings;
    return new Circuit({ name: targetKey(target), clock, retryAfterMs, isShared, onStateChange });
  }
}
