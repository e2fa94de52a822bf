import type { Logger } from '@gateway/runtime';
import type { Timer, Timers } from '../core/ports';
import type { Drained, Drains, DrainStore } from '../core/resilience/drains';

/** How soon every router knows of a change. */
const POLL_MS = 2_000;

export interface DrainWatch extends Drains {
  /** Reads what is drained; a store that is away does not keep the router from starting. */
  start(): Promise<void>;
  stop(): void;
  /** In force here at once. */
  set(targetKey: string, drained: Drained | undefined): Promise<void>;
}

/** What is drained as it was last read; while the store is away that stays. */
export function createDrainWatch(store: DrainStore, timers: Timers, log: Logger): DrainWatch {
  let known: ReadonlyMap<string, Drained> = new Map();
  let timer: Timer | undefined;
  let stopped = false;
  let isAway = false;

  async function read(): Promise<void> {
    try {
      known = await store.read();
      isAway = false;
    } catch (error) {
      if (!isAway)
        log.warn({ err: error }, 'which targets are drained cannot be read; what was read last stays');
      isAway = true;
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
    async set(targetKey, drained) {
      await store.write(targetKey, drained);
      await read();
    },
  };
}
