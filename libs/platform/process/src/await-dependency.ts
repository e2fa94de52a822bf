import { retry } from '@gateway/base';
import { isTransientDatabaseError, MigrationError } from '@gateway/database';
import type { Logger } from '@gateway/runtime';

const BACKOFF = { firstMs: 200, maxMs: 5_000 };

export interface AwaitOptions {
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** By default any failure is, except a schema that cannot be brought up to date. */
  readonly isWorthAnotherTry?: (error: unknown) => boolean;
}

/**
 * Tries until it succeeds: services may be started in any order, so what one
 * stands on may come later. Says so once a try, and gives up when `signal`
 * aborts, with the signal's reason.
 */
export async function awaitDependency<Value>(
  what: string,
  attempt: () => Promise<Value>,
  { log, signal, isWorthAnotherTry = isNoFailedMigration }: AwaitOptions,
): Promise<Value> {
  return retry(attempt, {
    backoff: BACKOFF,
    signal,
    isRetryable: isWorthAnotherTry,
    onRetry: (error, { pauseMs }) =>
      log.warn({ err: error, waitMs: Math.ceil(pauseMs) }, `waiting for ${what}`),
  });
}

function isNoFailedMigration(error: unknown): boolean {
  return !(error instanceof MigrationError) || isTransientDatabaseError(error);
}
