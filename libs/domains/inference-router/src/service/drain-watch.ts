import type { AuditEntry } from '@gateway/base';
import type { Logger } from '@gateway/runtime';
import type { Timer, Timers } from '../core/ports';
import type { Drained, Drains, DrainStore } from '../core/resilience/drains';

/** How often each router reads the store, in milliseconds. */
const POLL_MS = 2_000;

export interface DrainWatch extends Drains {
  /** Reads the drained targets. An unavailable store does not prevent the start. */
  start(): Promise<void>;
  stop(): void;
  /** Takes effect in this process immediately. */
  set(targetKey: string, drained: Drained | undefined, audit: AuditEntry): Promise<void>;
}

/** Caches the drained targets. While the store is unavailable, the last state stays in effect. */
export function createDrainWatch(store: DrainStore, timers: Timers, log: Logger): DrainWatch {
  let known: ReadonlyMap<string, Drained> = new Map();
  let timer: Timer | undefined;
  let stopped = false;
  let isUnavailable = false;

  async function read(): Promise<void> {
    try {
      known = await store.read();
      isUnavailable = false;
    } catch (error) {
      if (!isUnavailable)
        log.warn({ err: error }, 'drained targets cannot be read; the last state stays in effect');
      isUnavailable = true;
    }
  }

  return {
    of: (targetKey) => known.get(targetKey),
    async start() {
      await read();
      if (stopped) return;
      timer = timers.after(POLL_MS, () => void read().then(() => !stopped && timer?.restart()));
    },
    stop() {
      stopped = true;
      timer?.cancel();
    },
    async set(targetKey, drained, audit) {
      await store.write(targetKey, drained, audit);
      await read();
    },
  };
}
