import { setTimeout as delay } from 'node:timers/promises';
import { backoffMs } from '@gateway/base';
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
  for (let failures = 1; ; failures += 1) {
    signal.throwIfAborted();
    try {
      return await attempt();
    } catch (error) {
      signal.throwIfAborted();
      if (!isWorthAnotherTry(error)) throw error;
      const waitMs = Math.ceil(backoffMs(failures, BACKOFF, Math.random()));
      log.warn({ err: error, waitMs }, `waiting for ${what}`);
      await delay(waitMs, undefined, { signal }).catch(() => undefined);
    }
  }
}
function isNoFailedMigration(error: unknown): boolean {
  return !(error instanceof MigrationError) || isTransientDatabaseError(error);
}
