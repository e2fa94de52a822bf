import { backoffMs } from '@gateway/base';

export interface RetryBudgetOptions {
  /** Budget that each first call adds: 0.2 allows one retry per five calls. */
  readonly retriesPerCall: number;
  /** The maximum and the initial budget, in retries. */
  readonly maxSavedRetries: number;
}

const DEFAULT_RETRY_BUDGET: RetryBudgetOptions = { retriesPerCall: 0.2, maxSavedRetries: 20 };

/**
 * Limits retries to a fixed share of a provider's calls, so that they add a fifth to
 * its load when everything fails. Failing over to another provider is not limited.
 */
export class RetryBudgets {
  private readonly saved = new Map<string, number>();

  constructor(private readonly options: RetryBudgetOptions = DEFAULT_RETRY_BUDGET) {}

  /** A first call was made. */
  deposit(provider: string): void {
    const { retriesPerCall, maxSavedRetries } = this.options;
    this.saved.set(provider, Math.min(this.of(provider) + retriesPerCall, maxSavedRetries));
  }

  /** @returns false when the budget is used up. */
  withdraw(provider: string): boolean {
    const saved = this.of(provider);
    if (saved < 1) return false;
    this.saved.set(provider, saved - 1);
    return true;
  }

  private of(provider: string): number {
    return this.saved.get(provider) ?? this.options.maxSavedRetries;
  }
}

export const BACKOFF = { firstMs: 100, maxMs: 2_000 };

/**
 * The wait before retry number `retry` (from 1): the usual backoff, but at least the
 * provider's `retry-after`.
 *
 * @param random from 0 (inclusive) to 1 (exclusive).
 * @returns undefined when `retry-after` is longer than a caller should wait.
 */
export function retryPauseMs(
  retry: number,
  random: number,
  retryAfterMs: number | undefined,
): number | undefined {
  if (retryAfterMs !== undefined && retryAfterMs > BACKOFF.maxMs) return undefined;
  return Math.max(backoffMs(retry, BACKOFF, random), retryAfterMs ?? 0);
}
