import type { Clock } from '@gateway/base';
import { isTransientDatabaseError, type DatabaseLog } from '@gateway/database';
import type { Pool } from 'pg';
import type { Registry } from 'prom-client';
import type { DeadLetters } from '../dead-letters';
import { createBatchingAppender } from '../delivery/batching-appender';
import { drainGroups } from '../delivery/drain';
import { createInstruments } from '../delivery/instruments';
import { createLagWatch } from '../delivery/lag-watch';
import { DEFAULT_LIMITS, type EventLogLimits } from '../delivery/limits';
import type {
  EventAppender,
  EventLag,
  EventSubscriber,
  RunningSubscription,
  Subscription,
  TopicGroup,
  WatchesLag,
} from '../event-log';
import { createPostgresDeadLetters } from '../postgres/dead-letters';
import { runDeadLetterWorker } from '../postgres/dead-letter-worker';
import { connectKafka, type KafkaConnection } from './kafka-connection';
import { groupIdOf, runKafkaConsumer, type KafkaConsumerOptions } from './kafka-consumer';
import { createKafkaTopics } from './kafka-topics';
import { createKafkaWriter, KafkaUnavailableError, type KafkaWriterOptions } from './kafka-writer';

export interface KafkaEventLogOptions extends Partial<KafkaConsumerOptions>, Partial<KafkaWriterOptions> {
  readonly connection: KafkaConnection;
  /** As in the broker's logs and metrics. */
  readonly clientId: string;
  /** Of topics that are made; 12 when absent. */
  readonly partitions?: number;
  /** Of topics that are made; the broker's default when absent. */
  readonly replicationFactor?: number;
  /** The `event_log` schema of whoever subscribes, for what its groups give up on. */
  readonly letters?: Pool;
  readonly clock: Clock;
  readonly log: DatabaseLog;
  readonly metrics: Registry;
  readonly limits?: Partial<EventLogLimits>;
  /** Which failures of a handler pass by themselves; by default those of the database and of Kafka. */
  readonly isTransient?: (error: unknown) => boolean;
}

/**
 * The log on Kafka. Topics are keyed by organization and made when they are
 * missing. Events of a key keep their order; a partition is worked on by one
 * member of a group at a time. Dead letters are kept in the database of the
 * consumer, where they can be listed, redelivered and discarded.
 */
export interface KafkaEventLog extends EventAppender, EventSubscriber, EventLag, WatchesLag {
  /** Of the groups subscribed here; needs `letters`. */
  readonly deadLetters: DeadLetters;
  /** Waits until the groups subscribed here have read what is in the log, at most so long. */
  drain(timeoutMs: number): Promise<boolean>;
  /** Finishes the batches and writes under way. Safe to call twice. */
  stop(): Promise<void>;
}

const DEFAULT_PARTITIONS = 12;
const DEFAULTS: KafkaConsumerOptions & KafkaWriterOptions = {
  sessionTimeoutMs: 10_000,
  writeTimeoutMs: 2_000,
  restMs: 1_000,
};
const DRAIN_POLL_MS = 50;

export function createKafkaEventLog(given: KafkaEventLogOptions): KafkaEventLog {
  const { clock, log, letters } = given;
  const options = { ...DEFAULTS, ...given };
  const limits: EventLogLimits = { ...DEFAULT_LIMITS, ...given.limits };
  const instruments = createInstruments(given.metrics);
  const kafka = connectKafka(given.connection, given.clientId, log);
  const topics = createKafkaTopics(kafka, {
    partitions: given.partitions ?? DEFAULT_PARTITIONS,
    ...(given.replicationFactor !== undefined && { replicationFactor: given.replicationFactor }),
    retentionMs: limits.retentionMs,
    maxPayloadBytes: limits.maxPayloadBytes,
  });
  const writer = createKafkaWriter({ kafka, topics, log }, options);
  const appender = createBatchingAppender(
    {
      write: (write) => writer.write(write),
      onAppended: (topic, count) => instruments.appended.labels({ topic }).inc(count),
    },
    limits,
  );
  const isTransient = given.isTransient ?? isTransientByDefault;
  const deadLetters = letters && createPostgresDeadLetters(letters, clock);
  const subscriptions = new Map<RunningSubscription, TopicGroup>();
  const lagWatch = createLagWatch({ countWaiting, instruments, log, intervalMs: limits.lagIntervalMs });

  async function subscribe(subscription: Subscription): Promise<RunningSubscription> {
    if (letters === undefined) throw new Error('a subscription needs a database for its dead letters');
    const deps = { clock, log, limits, instruments, isTransient };
    const worker = runDeadLetterWorker(subscription, { ...deps, pool: letters });
    const consumer = runKafkaConsumer(subscription, {
      ...deps,
      kafka,
      topics,
      options,
      bury: (unprocessable, attempts) => worker.bury(unprocessable, attempts),
    });
    const tracked: RunningSubscription = {
      async stop() {
        await Promise.all([consumer.stop(), worker.stop()]);
        subscriptions.delete(tracked);
      },
    };
    subscriptions.set(tracked, subscription);
    lagWatch.watch(subscription);
    return tracked;
  }

  /** What is in the topic and was not committed by the group. */
  async function countWaiting({ topic, group }: TopicGroup): Promise<number> {
    const admin = kafka.admin();
    try {
      await admin.connect();
      const ends = await admin.fetchTopicOffsets(topic);
      const [read] = await admin.fetchOffsets({ groupId: groupIdOf({ topic, group }), topics: [topic] });
      const committed = new Map(read?.partitions.map(({ partition, offset }) => [partition, Number(offset)]));
      return ends.reduce((sum, { partition, high, low }) => {
        return sum + Math.max(0, Number(high) - Math.max(Number(low), committed.get(partition) ?? 0));
      }, 0);
    } finally {
      await admin.disconnect().catch(() => undefined);
    }
  }

  const drainPorts = {
    appended: () => appender.idle(),
    groups: () => subscriptions.values(),
    isBehind: async (group: TopicGroup) => (await countWaiting(group)) > 0,
    pollMs: DRAIN_POLL_MS,
  };

  return {
    append: (topic, events) => appender.append(topic, events),
    subscribe,
    countWaiting,
    watchLag: (group) => lagWatch.watch(group),
    get deadLetters() {
      if (deadLetters === undefined) throw new Error('there is no database for dead letters');
      return deadLetters;
    },
    drain: (timeoutMs) => drainGroups(drainPorts, timeoutMs),
    async stop() {
      await Promise.all([lagWatch.stop(), ...[...subscriptions.keys()].map((each) => each.stop())]);
      await appender.idle();
      await writer.stop();
    },
  };
}

function isTransientByDefault(error: unknown): boolean {
  return isTransientDatabaseError(error) || error instanceof KafkaUnavailableError;
}
