import type { AuditEntry } from '@gateway/base';
import type { Logger } from '@gateway/runtime';
import type { Timer, Timers } from '../core/ports';
import type { SwitchedOff, Switches, SwitchStore } from '../core/resilience/switched-off';

/** How often each router reads the store, in milliseconds. */
const POLL_MS = 2_000;

export interface SwitchWatch extends Switches {
  /** Reads the store. An unavailable store does not prevent the start. */
  start(): Promise<void>;
  stop(): void;
  /** Takes effect in this process immediately. */
  set(name: string, off: SwitchedOff | undefined, audit: AuditEntry): Promise<void>;
  /** Calls the listener after the set of switched-off names has changed. @returns a function that unsubscribes. */
  onChange(listener: () => void): () => void;
}

/** Caches what is switched off. While the store is unavailable, the last state stays in effect. */
export function createSwitchWatch(
  store: SwitchStore,
  { timers, log, what }: { readonly timers: Timers; readonly log: Logger; readonly what: string },
): SwitchWatch {
  const listeners = new Set<() => void>();
  let known: ReadonlyMap<string, SwitchedOff> = new Map();
  let timer: Timer | undefined;
  let stopped = false;
  let isUnavailable = false;
  /** Reads end in the order in which they start, so that an older state never replaces a newer one. */
  let lastRead: Promise<void> = Promise.resolve();

  function read(): Promise<void> {
    return (lastRead = lastRead.then(readOnce));
  }

  async function readOnce(): Promise<void> {
    try {
      const previous = known;
      known = await store.read();
      isUnavailable = false;
      if (!hasSameNames(previous, known)) for (const listener of [...listeners]) listener();
    } catch (error) {
      if (!isUnavailable) log.warn({ err: error }, `${what} cannot be read; the last state stays in effect`);
      isUnavailable = true;
    }
  }

  return {
    of: (name) => known.get(name),
    async start() {
      await read();
      if (stopped) return;
      timer = timers.after(POLL_MS, () => void read().then(() => !stopped && timer?.restart()));
    },
    stop() {
      stopped = true;
      timer?.cancel();
    },
    async set(name, off, audit) {
      await store.write(name, off, audit);
      await read();
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

function hasSameNames(one: ReadonlyMap<string, unknown>, other: ReadonlyMap<string, unknown>): boolean {
  return one.size === other.size && [...one.keys()].every((name) => other.has(name));
}
