import type { CancelSignal } from './cancellation';

/** Resolves after `ms`, or when the signal aborts. Never rejects. */
export function sleep(ms: number, signal?: CancelSignal): Promise<void> {
  if (signal?.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const finish = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', finish);
      resolve();
    };
    const timer = setTimeout(finish, ms);
    signal?.addEventListener('abort', finish, { once: true });
  });
}
