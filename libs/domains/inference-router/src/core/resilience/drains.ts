import type { AuditEntry, UnixMs } from '@gateway/base';

/** Who drained a target, when and why. */
export interface Drained {
  readonly since: UnixMs;
  readonly by: string;
  readonly reason: string;
}

/** The drained targets, by target key. Never blocks: it is read for every call. */
export interface Drains {
  of(targetKey: string): Drained | undefined;
}

/**
 * Stores drained targets. `read` returns all of them. All routers share the store
 * and poll it; while it is unavailable, each uses the last state it read.
 */
export interface DrainStore {
  read(): Promise<ReadonlyMap<string, Drained>>;
  /** Undefined ends the drain. Writes `audit` in the same transaction, if something changes. */
  write(targetKey: string, drained: Drained | undefined, audit: AuditEntry): Promise<void>;
}

/** Holds the drains of one process in memory. */
export function createMemoryDrainStore(): DrainStore {
  const drained = new Map<string, Drained>();
  return {
    read: async () => new Map(drained),
    async write(key, value) {
      if (value) drained.set(key, value);
      else drained.delete(key);
    },
  };
}
