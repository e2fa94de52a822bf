import { backoffMs } from '@gateway/base';

export interface RetryBudgetOptions {
  /** Retries that each first call pays in: 0.2 allows one retry per five calls. */
  readonly retriesPerCall: number;
  /** Retries that may be saved up; also what a provider starts with. */
  readonly maxSavedRetries: number;
}

const DEFAULT_RETRY_BUDGET: RetryBudgetOptions = { retriesPerCall: 0.2, maxSavedRetries: 20 };

/**
 * Keeps retries a fixed share of a provider's calls. When everything fails,
 * retries then add a fifth to its load and not a multiple. Going on to another
 * provider costs nothing here: that one is not the one in trouble.
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
 * How long to wait before retry number `retry` (from 1): the usual backoff, with
 * what the provider asked for as a floor.
 *
 * @param random from 0 up to 1.
 * @returns undefined when the provider asks for longer than a caller should wait here.
 */
export function retryPauseMs(
  retry: number,
  random: number,
  retryAfterMs: number | undefined,
): number | undefined {
  if (retryAfterMs !== undefined && retryAfterMs > BACKOFF.maxMs) return undefined;
  return Math.max(backoffMs(retry, BACKOFF, random), retryAfterMs ?? 0);
}
