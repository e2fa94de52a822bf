import type { Clock } from '@gateway/base';
import { isTransientDatabaseError, type DatabaseLog } from '@gateway/database';
import type { Pool, PoolClient } from 'pg';
import type { Registry } from 'prom-client';
import type {
  EventAppender,
  EventLag,
  EventSubscriber,
  LoggedEvent,
  RunningSubscription,
  TopicGroup,
  TransactionalAppender,
  WatchesLag,
} from '../event-log';
import type { DeadLetters } from '../dead-letters';
import { createBatchingAppender } from '../delivery/batching-appender';
import { assertValid } from '../delivery/valid-events';
import { drainGroups } from '../delivery/drain';
import { writeEvents } from './append-events';
import { createCommittedEventBuffer } from './committed-event-buffer';
import { runConsumer } from './consumer';
import { createPostgresDeadLetters } from './dead-letters';
import { createInstruments } from '../delivery/instruments';
import { createLagWatch } from '../delivery/lag-watch';
import { DEFAULT_LIMITS, type EventLogLimits } from '../delivery/limits';
import { prepareDays, trimEvents, type Trimmed } from './trim-events';

export interface PostgresEventLogOptions {
  /** On the `event_log` schema. Each subscription keeps one of its connections, so it needs two more than those. */
  readonly pool: Pool;
  readonly clock: Clock;
  readonly log: DatabaseLog;
  readonly metrics: Registry;
  readonly limits?: Partial<EventLogLimits>;
  /** Which failures of a handler pass by themselves; by default those of the database. */
  readonly isTransient?: (error: unknown) => boolean;
}

/**
 * A durable log in a PostgreSQL table, with consumer groups.
 * - `append` resolves after the commit. Events of one call, and all events of a
 *   key, keep their order.
 * - `appending` writes in the caller's transaction. It locks the topic until that
 *   ends, so it comes last before the commit.
 * - What this process wrote, its own consumers get without reading it back.
 * - One member of a group works at a time, across processes; the others stand
 *   by. A group that is new begins with the oldest event that is still kept.
 */
export interface PostgresEventLog
  extends EventAppender, EventSubscriber, EventLag, WatchesLag, TransactionalAppender<PoolClient> {
  readonly deadLetters: DeadLetters;
  /** Makes room for the days that come, and begins to remove events that every group has passed and whose time is over. */
  start(): Promise<void>;
  /**
   * Waits until the groups subscribed here have read what is in the log, each
   * also what those before it have added: so a clean stop leaves no event
   * behind. It gives up after `timeoutMs`. Events then come at the next start.
   *
   * @returns whether everything was read.
   */
  drain(timeoutMs: number): Promise<boolean>;
  /** Finishes the batches and writes under way. Safe to call twice. */
  stop(): Promise<void>;
  /** Removes what may go now, discarded dead letters too; returns which events went. */
  trim(): Promise<Trimmed>;
}

const DRAIN_POLL_MS = 20;

/** $1 topic, $2 group. No row when there is nothing left to read. */
export const IS_BEHIND = `
  select from event_log.topics t
  where t.topic = $1
    and t.last_position > coalesce(
      (select position from event_log.consumer_groups where topic = $1 and group_name = $2), 0)`;

/** $1 topic, $2 group. Positions have no gaps but of what was rolled back, so their difference is the number. */
const COUNT_WAITING = `
  select t.last_position - coalesce(
    (select position from event_log.consumer_groups where topic = $1 and group_name = $2), 0) as events
  from event_log.topics t where t.topic = $1`;

export function createPostgresEventLog(options: PostgresEventLogOptions): PostgresEventLog {
  const { pool, clock, log } = options;
  const limits: EventLogLimits = { ...DEFAULT_LIMITS, ...options.limits };
  const instruments = createInstruments(options.metrics);
  const buffer = createCommittedEventBuffer(limits);
  const appender = createBatchingAppender(
    {
      async write({ topic, events }) {
        buffer.add(topic, await writeEvents(pool, clock, topic, events, buffer.groupsOf(topic)));
      },
      onAppended: (topic, count) => instruments.appended.labels({ topic }).inc(count),
    },
    limits,
  );
  const deadLetters = createPostgresDeadLetters(pool, clock);
  const subscriptions = new Map<RunningSubscription, TopicGroup>();
  const lagWatch = createLagWatch({ countWaiting, instruments, log, intervalMs: limits.lagIntervalMs });
  let trimTimer: NodeJS.Timeout | undefined;
  let trimming: Promise<unknown> = Promise.resolve();

  async function trim(): Promise<Trimmed> {
    await deadLetters.trim(new Date(clock.now() - limits.discardedRetentionMs));
    return trimEvents(pool, clock, limits);
  }

  async function maintain(): Promise<void> {
    try {
      await prepareDays(pool, clock);
      const { days, events } = await trim();
      if (days > 0 || events > 0) log.info({ days, events }, 'removed events that every group has passed');
    } catch (error) {
      log.warn({ err: error }, 'the tables of events could not be changed; it is tried again');
    }
  }

  async function countWaiting({ topic, group }: TopicGroup): Promise<number> {
    const { rows } = await pool.query<{ events: bigint }>(COUNT_WAITING, [topic, group]);
    return Number(rows[0]?.events ?? 0);
  }

  const drainPorts = {
    appended: () => appender.idle(),
    groups: () => subscriptions.values(),
    isBehind: async ({ topic, group }: TopicGroup) =>
      (await pool.query(IS_BEHIND, [topic, group])).rowCount !== 0,
    pollMs: DRAIN_POLL_MS,
  };

  return {
    deadLetters,
    append: (topic, events) => appender.append(topic, events),
    appending(topic, events) {
      assertValid(events, limits);
      let written: readonly LoggedEvent[] = [];
      return {
        async write(transaction) {
          if (events.length === 0) return;
          written = await writeEvents(transaction, clock, topic, events, buffer.groupsOf(topic));
        },
        committed() {
          buffer.add(topic, written);
        },
      };
    },
    async subscribe(subscription) {
      const running = runConsumer(subscription, {
        pool,
        clock,
        log,
        limits,
        instruments,
        buffer,
        isTransient: options.isTransient ?? isTransientDatabaseError,
      });
      const tracked: RunningSubscription = {
        async stop() {
          await running.stop();
          subscriptions.delete(tracked);
        },
      };
      subscriptions.set(tracked, subscription);
      lagWatch.watch(subscription);
      return tracked;
    },
    countWaiting,
    watchLag: (group) => lagWatch.watch(group),
    trim,
    drain: (timeoutMs) => drainGroups(drainPorts, timeoutMs),
    async start() {
      if (trimTimer) return;
      trimTimer = setInterval(() => (trimming = maintain()), limits.trimIntervalMs);
      trimTimer.unref();
      await maintain();
    },
    async stop() {
      clearInterval(trimTimer);
      trimTimer = undefined;
      await Promise.all([lagWatch.stop(), ...[...subscriptions.keys()].map((each) => each.stop())]);
      await appender.idle();
      await trimming;
    },
  };
}
