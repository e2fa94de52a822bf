import type { UnixMs } from '@gateway/base';

/** Why no new request goes to a target. */
export interface Drained {
  readonly since: UnixMs;
  readonly by: string;
  readonly reason: string;
}

/** Which targets are drained, by the key of the target. Never blocks: it is asked for every call. */
export interface Drains {
  of(targetKey: string): Drained | undefined;
}

/**
 * Keeps which targets are drained. `read` answers all of them. Every router
 * that shares the store sees a change within seconds, and goes on with what it
 * knows while the store is away.
 */
export interface DrainStore {
  read(): Promise<ReadonlyMap<string, Drained>>;
  /** Undefined lets requests on again. */
  write(targetKey: string, drained: Drained | undefined): Promise<void>;
}

/** Of one process, until it ends. */
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
