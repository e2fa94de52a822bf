import type { DatabaseLog } from '@gateway/database';
import type { EventLag, TopicGroup } from '../event-log';
import type { EventLogInstruments } from './instruments';

export interface LagWatchPorts {
  readonly countWaiting: EventLag['countWaiting'];
  readonly instruments: EventLogInstruments;
  readonly log: DatabaseLog;
  readonly intervalMs: number;
}

/** Measures how far groups are behind, again and again, whatever their members do and whether there are any. */
export interface LagWatch {
  /** Begins with a group; one that is watched already stays so. */
  watch(group: TopicGroup): void;
  /** Ends with all of them, and shows nothing any more. */
  stop(): Promise<void>;
}

export function createLagWatch({ countWaiting, instruments, log, intervalMs }: LagWatchPorts): LagWatch {
  const watched = new Map<string, TopicGroup>();
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  let looking: Promise<void> | undefined;

  async function measure({ topic, group }: TopicGroup): Promise<void> {
    try {
      const waiting = await countWaiting({ topic, group });
      if (!stopped) instruments.lag.set({ topic, group }, waiting);
    } catch (error) {
      // What was true a moment ago may hide that nobody can tell.
      instruments.lag.remove({ topic, group });
      log.debug({ err: error, topic, group }, 'it could not be told how many events wait');
    }
  }

  /** One look at a time: a log that answers slowly is not asked more and more. */
  function look(): void {
    looking ??= Promise.all([...watched.values()].map(measure)).then(() => {
      looking = undefined;
    });
  }

  return {
    watch({ topic, group }) {
      watched.set(JSON.stringify([topic, group]), { topic, group });
      timer ??= setInterval(look, intervalMs).unref();
      look();
    },
    async stop() {
      stopped = true;
      clearInterval(timer);
      await looking;
      for (const { topic, group } of watched.values()) instruments.lag.remove({ topic, group });
    },
  };
}
