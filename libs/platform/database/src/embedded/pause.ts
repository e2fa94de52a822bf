import { setTimeout as delay } from 'node:timers/promises';

/**
 * Resolves after `ms`, or when the signal aborts. As `sleep` of `@gateway/base`,
 * but without the import: Jest's global setup loads this folder without path
 * aliases.
 */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  await delay(ms, undefined, signal ? { signal } : {}).catch(() => undefined);
}
