import type { CancelSignal } from '@gateway/base';

/** Callers that wait for the next change of a state. */
export class Waiters {
  private readonly waiting = new Set<() => void>();

  /** Resolves at the next `wake`, when the signal aborts, or after `maxMs`. */
  wait(maxMs: number, signal: CancelSignal | undefined): Promise<void> {
    if (signal?.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', wake);
        this.waiting.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, maxMs);
      signal?.addEventListener('abort', wake);
      this.waiting.add(wake);
    });
  }

  wake(): void {
    for (const wake of [...this.waiting]) wake();
  }
}
