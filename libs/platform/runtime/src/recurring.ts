export interface Recurring {
  start(): void;
  /** Waits for the run under way; there is none afterwards. */
  stop(): Promise<void>;
}

/**
 * Runs `work` every so often, the next an interval after the end of the one
 * before. It keeps no process alive. `work` handles its own failures.
 */
export function createRecurring(work: () => Promise<void>, intervalMs: number): Recurring {
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  let underWay: Promise<void> = Promise.resolve();

  function start(): void {
    if (stopped) return;
    timer = setTimeout(() => {
      underWay = work().finally(start);
    }, intervalMs);
    timer.unref();
  }

  return {
    start,
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await underWay;
    },
  };
}
