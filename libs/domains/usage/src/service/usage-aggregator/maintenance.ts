import { DAY_MS, HOUR_MS, type Clock, type UnixMs } from '@gateway/base';
import { createPeriodicTask, type Logger } from '@gateway/runtime';
import type { GenerationTables, RefusalStore } from '../../core/ports';

const INTERVAL_MS = HOUR_MS;

export interface MaintenancePorts {
  readonly tables: GenerationTables;
  readonly refusals: RefusalStore;
  readonly clock: Clock;
  readonly log: Logger | undefined;
  /** Generations are stored for this many days and up to a month longer; if undefined, permanently. */
  readonly retentionDays: number | undefined;
}

export interface Maintenance {
  /** Creates the current partitions. Does not reject when the database is unavailable. */
  start(): Promise<void>;
  /** Waits for the round in progress. */
  stop(): Promise<void>;
}

/** Creates partitions ahead of time, and deletes generations and errors past their retention. */
export function createMaintenance(ports: MaintenancePorts): Maintenance {
  const { tables, refusals, clock, log, retentionDays } = ports;
  const recurring = createPeriodicTask(round, INTERVAL_MS);
  let first: Promise<void> = Promise.resolve();

  async function round(): Promise<void> {
    try {
      const now = clock.now();
      await tables.prepare(now);
      if (retentionDays === undefined) return;
      const oldest = (now - retentionDays * DAY_MS) as UnixMs;
      const dropped = await tables.dropBefore(oldest);
      if (dropped > 0) log?.info({ months: dropped }, 'dropped generations past their retention');
      await refusals.deleteBefore(oldest);
    } catch (error) {
      log?.warn({ err: error }, 'creating or dropping partitions of generations failed; retrying later');
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
