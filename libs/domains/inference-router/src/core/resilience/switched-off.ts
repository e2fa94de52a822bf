import type { AuditEntry, UnixMs } from '@gateway/base';

/** Who switched something off, when and why. */
export interface SwitchedOff {
  readonly since: UnixMs;
  readonly by: string;
  readonly reason: string;
}

/** What operators have switched off: drained targets by target key, or models by ID. Never blocks: it is read for every call. */
export interface Switches {
  of(name: string): SwitchedOff | undefined;
}

/**
 * Stores what is switched off. `read` returns all of it. All routers share the store
 * and poll it; while it is unavailable, each uses the last state it read.
 */
export interface SwitchStore {
  read(): Promise<ReadonlyMap<string, SwitchedOff>>;
  /** Undefined switches on again. Writes `audit` in the same transaction, if something changes. */
  write(name: string, off: SwitchedOff | undefined, audit: AuditEntry): Promise<void>;
}

/** Holds the switches of one process in memory. */
export function createMemorySwitchStore(): SwitchStore {
  const switchedOff = new Map<string, SwitchedOff>();
  return {
    read: async () => new Map(switchedOff),
    async write(name, off) {
      if (off) switchedOff.set(name, off);
      else switchedOff.delete(name);
    },
  };
}
