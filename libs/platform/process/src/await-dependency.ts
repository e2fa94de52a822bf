import { backoffMs } from '@gateway/base';
import type { Logger } from '@gateway/runtime';

const BACKOFF = { firstMs: 200, maxMs: 5_000 };

export interface AwaitOptions {
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** Any failure is, when absent. */
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
  { log, signal, isWorthAnotherTry = () => true }: AwaitOptions,
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
      await pause(waitMs, signal);
    }
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end);
  });
}
