export interface PeriodicTask {
  start(): void;
  /** Waits for the current run and starts no other. */
  stop(): Promise<void>;
}

/**
 * Runs `work` periodically: each run starts an interval after the end of the
 * previous one. Does not prevent the process from exiting. `work` must handle its
 * own failures.
 */
export function createPeriodicTask(work: () => Promise<void>, intervalMs: number): PeriodicTask {
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  let currentRun: Promise<void> = Promise.resolve();

  function start(): void {
    if (stopped) return;
    timer = setTimeout(() => {
      currentRun = work().finally(start);
    }, intervalMs);
    timer.unref();
  }

  return {
    start,
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await currentRun;
    },
  };
}
