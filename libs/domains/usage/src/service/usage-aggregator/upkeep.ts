import { DAY_MS, HOUR_MS, type Clock, type UnixMs } from '@gateway/base';
import { createRecurring, type Logger } from '@gateway/runtime';
import type { GenerationTables } from '../../core/ports';

const INTERVAL_MS = HOUR_MS;

export interface UpkeepPorts {
  readonly tables: GenerationTables;
  readonly clock: Clock;
  readonly log: Logger | undefined;
  /** Generations are kept for so many days, and up to a month longer; undefined: for ever. */
  readonly retentionDays: number | undefined;
}

export interface Upkeep {
  /** Makes the tables that are needed now. A database that is away does not keep the module from starting. */
  start(): Promise<void>;
  /** Waits for the round under way. */
  stop(): Promise<void>;
}

/** Makes the tables of the months to come, and drops those whose time is over. */
export function createUpkeep({ tables, clock, log, retentionDays }: UpkeepPorts): Upkeep {
  const recurring = createRecurring(round, INTERVAL_MS);
  let first: Promise<void> = Promise.resolve();

  async function round(): Promise<void> {
    try {
      const now = clock.now();
      await tables.prepare(now);
      if (retentionDays === undefined) return;
      const dropped = await tables.dropBefore((now - retentionDays * DAY_MS) as UnixMs);
      if (dropped > 0)
        log?.info({ months: dropped }, 'dropped the generations of months past their retention');
    } catch (error) {
      log?.warn({ err: error }, 'the tables of generations could not be looked after; it is tried again');
    }
  }

  return {
    async start() {
      first = round();
      await first;
      recurring.start();
    },
    async stop() {
      await Promise.all([first, recurring.stop()]);
    },
  };
}
