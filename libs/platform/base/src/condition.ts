import type { CancelSignal } from './cancellation';

/** A condition variable: callers wait for the next change of a state. */
export class Condition {
  private readonly waiting = new Set<() => void>();

  /** Resolves at the next `notifyAll`, when `signal` aborts, or after `maxMs`. */
  wait(signal?: CancelSignal, maxMs?: number): Promise<void> {
    if (signal?.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const done = (): void => {
        this.waiting.delete(done);
        signal?.removeEventListener('abort', done);
        clearTimeout(timer);
        resolve();
      };
      const timer = maxMs === undefined ? undefined : setTimeout(done, maxMs);
      signal?.addEventListener('abort', done);
      this.waiting.add(done);
    });
  }

  notifyAll(): void {
    for (const done of [...this.waiting]) done();
  }
}
