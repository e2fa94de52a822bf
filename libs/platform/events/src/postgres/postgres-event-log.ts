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
  LagWatcher,
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
import { createLagMonitor } from '../delivery/lag-monitor';
import { DEFAULT_LIMITS, type EventLogLimits } from '../delivery/limits';
import { createDayPartitions, deleteExpiredEvents, type DeletedEvents } from './delete-expired-events';

export interface PostgresEventLogOptions {
  /** Connects to the `event_log` schema. Needs two connections more than there are subscriptions. */
  readonly pool: Pool;
  readonly clock: Clock;
  readonly log: DatabaseLog;
  readonly metrics: Registry;
  readonly limits?: Partial<EventLogLimits>;
  /** Which errors of a handler are temporary. Default: those of the database. */
  readonly isTransient?: (error: unknown) => boolean;
}

/**
 * A durable log in a PostgreSQL table, with consumer groups.
 * - `append` resolves after the commit. Events of one call, and all events of a
 *   key, keep their order.
 * - `appending` writes in the caller's transaction. It locks the topic until the
 *   commit, so it should be the last statement.
 * - Consumers in this process get its events without reading the database.
 * - One member of a group leads, across processes; the others stand by. A new group
 *   starts with the oldest stored event.
 */
export interface PostgresEventLog
  extends EventAppender, EventSubscriber, EventLag, LagWatcher, TransactionalAppender<PoolClient> {
  readonly deadLetters: DeadLetters;
  /** Starts the maintenance: creates partitions ahead of time, and deletes expired events that every group has passed. */
  start(): Promise<void>;
  /**
   * Waits until the groups subscribed here have read the log, one after the other,
   * including events that earlier groups append, so that a clean stop leaves no
   * event unread. After `timeoutMs`, the rest is delivered at the next start.
   *
   * @returns whether everything was read.
   */
  drain(timeoutMs: number): Promise<boolean>;
  /** Finishes batches and writes in progress. Idempotent. */
  stop(): Promise<void>;
  /** Removes what may go now, discarded dead letters too; returns which events went. */
  deleteExpired(): Promise<DeletedEvents>;
}

const DRAIN_POLL_MS = 20;

/** $1 topic, $2 group. No row if the group has read everything. */
export const IS_BEHIND = `
  select from event_log.topics t
  where t.topic = $1
    and t.last_position > coalesce(
      (select position from event_log.consumer_groups where topic = $1 and group_name = $2), 0)`;

/** $1 topic, $2 group. Positions have no gaps, so their difference is the lag. */
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
  const lagMonitor = createLagMonitor({ countWaiting, instruments, log, intervalMs: limits.lagIntervalMs });
  let maintenanceTimer: NodeJS.Timeout | undefined;
  let maintenance: Promise<unknown> = Promise.resolve();

  async function deleteExpired(): Promise<DeletedEvents> {
    await deadLetters.deleteDiscarded(new Date(clock.now() - limits.discardedRetentionMs));
    return deleteExpiredEvents(pool, clock, limits);
  }

  async function maintain(): Promise<void> {
    try {
      await createDayPartitions(pool, clock);
      const { days, events } = await deleteExpired();
      if (days > 0 || events > 0) log.info({ days, events }, 'deleted events that every group has passed');
    } catch (error) {
      log.warn({ err: error }, 'maintenance of the event tables failed; retrying later');
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
      lagMonitor.watch(subscription);
      return tracked;
    },
    countWaiting,
    watchLag: (group) => lagMonitor.watch(group),
    deleteExpired,
    drain: (timeoutMs) => drainGroups(drainPorts, timeoutMs),
    async start() {
      if (maintenanceTimer) return;
      maintenanceTimer = setInterval(() => (maintenance = maintain()), limits.maintenanceIntervalMs);
      maintenanceTimer.unref();
      await maintain();
    },
    async stop() {
      clearInterval(maintenanceTimer);
      maintenanceTimer = undefined;
      await Promise.all([lagMonitor.stop(), ...[...subscriptions.keys()].map((each) => each.stop())]);
      await appender.idle();
      await maintenance;
    },
  };
}
