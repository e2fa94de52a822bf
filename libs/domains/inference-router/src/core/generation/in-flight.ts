import { ShortLivedSet } from '@gateway/base';

/**
 * The generations in flight. A stop admits no new ones, waits for the running ones,
 * and finally cancels those that still run.
 */
export class InFlight {
  private readonly running = new ShortLivedSet<() => void>();
  private stopping = false;
  private onEmpty: (() => void) | undefined;

  /**
   * @param cancel called when the drain time is over.
   * @returns a function that removes it, safe to call twice; undefined when the router is stopping.
   */
  enter(cancel: () => void): (() => void) | undefined {
    if (this.stopping) return undefined;
    const leave = this.running.add(cancel);
    return () => {
      if (leave() && this.running.size === 0) this.onEmpty?.();
    };
  }

  get size(): number {
    return this.running.size;
  }

  /** Admits no new generation, and resolves when none is in flight. */
  drain(): Promise<void> {
    this.stopping = true;
    if (this.running.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.onEmpty = resolve;
    });
  }

  cancelAll(): void {
    for (const cancel of this.running) cancel();
  }
}
