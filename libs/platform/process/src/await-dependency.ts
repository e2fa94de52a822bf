import { retry } from '@gateway/base';
import { isTransientDatabaseError, MigrationError } from '@gateway/database';
import type { Logger } from '@gateway/runtime';

const BACKOFF = { firstMs: 200, maxMs: 5_000 };

export interface AwaitOptions {
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** By default, all errors except failed migrations are retryable. */
  readonly isRetryable?: (error: unknown) => boolean;
}

/**
 * Retries until `attempt` succeeds, since services may start before their
 * dependencies. Logs each failure. Rejects with the signal's reason when `signal`
 * aborts.
 */
export async function awaitDependency<Value>(
  what: string,
  attempt: () => Promise<Value>,
  { log, signal, isRetryable = isRetryableByDefault }: AwaitOptions,
): Promise<Value> {
  return retry(attempt, {
    backoff: BACKOFF,
    signal,
    isRetryable: isRetryable,
    onRetry: (error, { pauseMs }) =>
      log.warn({ err: error, waitMs: Math.ceil(pauseMs) }, `waiting for ${what}`),
  });
}

function isRetryableByDefault(error: unknown): boolean {
  return !(error instanceof MigrationError) || isTransientDatabaseError(error);
}
