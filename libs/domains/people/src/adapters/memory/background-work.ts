import type { Logger } from '@gateway/runtime';
import type { BackgroundWork } from '../../core/ports';

const MAX_UNFINISHED = 100;

/** Runs work in this process. */
export function createBackgroundWork(log: Pick<Logger, 'warn'>): BackgroundWork & { stop(): Promise<void> } {
  const unfinished = new Set<Promise<void>>();
  return {
    start(what, work) {
      if (unfinished.size >= MAX_UNFINISHED) return false;
      const running = work()
        .catch((error: unknown) => log.warn({ err: error }, `cannot ${what}`))
        .finally(() => unfinished.delete(running));
      unfinished.add(running);
      return true;
    },

    /** Waits for started work, which has timeouts of its own. */
    async stop() {
      await Promise.all(unfinished);
    },
  };
}
