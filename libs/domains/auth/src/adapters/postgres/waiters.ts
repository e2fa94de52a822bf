import type { CancelSignal } from '@gateway/base';

/** A condition variable: callers wait for the next `wake`. */
export class Waiters {
  private readonly waiting = new Set<() => void>();

  /** Resolves at the next `wake`, after `maxMs`, or when `signal` aborts. */
  wait(signal: CancelSignal, maxMs?: number): Promise<void> {
    if (signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const done = (): void => {
        this.waiting.delete(done);
        signal.removeEventListener('abort', done);
        clearTimeout(timer);
        resolve();
      };
      const timer = maxMs === undefined ? undefined : setTimeout(done, maxMs);
      signal.addEventListener('abort', done, { once: true });
      this.waiting.add(done);
    });
  }

  wake(): void {
    for (const done of [...this.waiting]) done();
  }
}
