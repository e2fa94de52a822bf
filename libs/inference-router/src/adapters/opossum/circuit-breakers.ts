import CircuitBreaker from 'opossum';
import { targetKey, type Target } from '../../core/catalogue/model-catalogue';
import type { CircuitBreakers } from '../../core/ports';
import { toUpstreamFailure, UpstreamFailure } from '../../core/failure/upstream-failure';

export type BreakerState = 'closed' | 'half_open' | 'open';

export interface BreakerOptions {
  /** A circuit opens when this share of the calls in the window failed. */
  readonly failurePercent: number;
  /** Fewer calls than this in the window open nothing. */
  readonly minCalls: number;
  readonly windowMs: number;
  /** After this an open circuit lets one call try. */
  readonly retryAfterMs: number;
}

export const DEFAULT_BREAKER: BreakerOptions = {
  failurePercent: 50,
  minCalls: 20,
  windowMs: 10_000,
  retryAfterMs: 10_000,
};

export interface OpossumBreakersPorts {
  readonly options?: Partial<BreakerOptions>;
  readonly onStateChange?: (target: Target, state: BreakerState) => void;
}

type Action = () => Promise<unknown>;

/** A circuit breaker of opossum per target. */
export function createOpossumBreakers({
  options,
  onStateChange = () => undefined,
}: OpossumBreakersPorts = {}): CircuitBreakers {
  const settings: BreakerOptions = { ...DEFAULT_BREAKER, ...options };
  const breakers = new Map<string, CircuitBreaker<[Action], unknown>>();

  function breakerOf(target: Target): CircuitBreaker<[Action], unknown> {
    const key = targetKey(target);
    let breaker = breakers.get(key);
    if (!breaker) {
      breaker = createBreaker(key, settings);
      breaker.on('open', () => onStateChange(target, 'open'));
      breaker.on('halfOpen', () => onStateChange(target, 'half_open'));
      breaker.on('close', () => onStateChange(target, 'closed'));
      breakers.set(key, breaker);
    }
    return breaker;
  }

  return {
    async run<Result>(target: Target, action: () => Promise<Result>): Promise<Result> {
      const breaker = breakerOf(target);
      const wasTrial = breaker.halfOpen;
      try {
        return (await breaker.fire(action)) as Result;
      } catch (error) {
        if (isOpenError(error)) {
          throw new UpstreamFailure('circuit_open', { detail: `${targetKey(target)}: circuit is open` });
        }
        // A trial whose caller left has shown nothing about the target.
        if (wasTrial && toUpstreamFailure(error).kind === 'cancelled') breaker.open();
        throw error;
      }
    },
    close() {
      for (const breaker of breakers.values()) breaker.shutdown();
      breakers.clear();
    },
  };
}

function createBreaker(name: string, settings: BreakerOptions): CircuitBreaker<[Action], unknown> {
  return new CircuitBreaker((action: Action) => action(), {
    name,
    timeout: false,
    errorThresholdPercentage: settings.failurePercent,
    volumeThreshold: settings.minCalls,
    rollingCountTimeout: settings.windowMs,
    rollingCountBuckets: 10,
    rollingPercentilesEnabled: false,
    resetTimeout: settings.retryAfterMs,
    errorFilter: (error) => !toUpstreamFailure(error).rule.tripsBreaker,
  });
}

function isOpenError(error: unknown): boolean {
  return error instanceof Error && (error as { code?: unknown }).code === 'EOPENBREAKER';
}
