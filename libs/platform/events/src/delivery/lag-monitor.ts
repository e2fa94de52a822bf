import type { DatabaseLog } from '@gateway/database';
import type { EventLag, TopicGroup } from '../event-log';
import type { EventLogInstruments } from './instruments';

export interface LagMonitorPorts {
  readonly countWaiting: EventLag['countWaiting'];
  readonly instruments: EventLogInstruments;
  readonly log: DatabaseLog;
  readonly intervalMs: number;
}

/** Periodically measures the lag of groups, whether or not they have members. */
export interface LagMonitor {
  /** Starts measuring a group. Idempotent. */
  watch(group: TopicGroup): void;
  /** Stops measuring and removes the metrics. */
  stop(): Promise<void>;
}

export function createLagMonitor({
  countWaiting,
  instruments,
  log,
  intervalMs,
}: LagMonitorPorts): LagMonitor {
  const watched = new Map<string, TopicGroup>();
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  let measuring: Promise<void> | undefined;

  async function measure({ topic, group }: TopicGroup): Promise<void> {
    try {
      const waiting = await countWaiting({ topic, group });
      if (!stopped) instruments.lag.set({ topic, group }, waiting);
    } catch (error) {
      // A stale value would hide that the lag is unknown.
      instruments.lag.remove({ topic, group });
      log.debug({ err: error, topic, group }, 'measuring the lag of a consumer group failed');
    }
  }

  /** Skips a measurement while the previous one is running. */
  function measureAll(): void {
    measuring ??= Promise.all([...watched.values()].map(measure)).then(() => {
      measuring = undefined;
    });
  }

  return {
    watch({ topic, group }) {
      watched.set(JSON.stringify([topic, group]), { topic, group });
      timer ??= setInterval(measureAll, intervalMs).unref();
      measureAll();
    },
    async stop() {
      stopped = true;
      clearInterval(timer);
      await measuring;
      for (const { topic, group } of watched.values()) instruments.lag.remove({ topic, group });
    },
  };
}
