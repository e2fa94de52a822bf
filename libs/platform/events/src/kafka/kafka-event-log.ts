import type { Clock } from '@gateway/base';
import { isTransientDatabaseError, type DatabaseLog } from '@gateway/database';
import type { Pool } from 'pg';
import type { Registry } from 'prom-client';
import type { DeadLetters } from '../dead-letters';
import { createBatchingAppender } from '../delivery/batching-appender';
import { drainGroups } from '../delivery/drain';
import { createInstruments } from '../delivery/instruments';
import { createLagMonitor } from '../delivery/lag-monitor';
import { DEFAULT_LIMITS, type EventLogLimits } from '../delivery/limits';
import type {
  EventAppender,
  EventLag,
  EventSubscriber,
  RunningSubscription,
  Subscription,
  TopicGroup,
  LagWatcher,
} from '../event-log';
import { createPostgresDeadLetters } from '../postgres/dead-letters';
import { runDeadLetterWorker } from '../postgres/dead-letter-worker';
import { connectKafka, type KafkaConnection } from './kafka-connection';
import { countWaitingEvents } from './group-offsets';
import { groupIdOf, runKafkaConsumer, type KafkaConsumerOptions } from './kafka-consumer';
import { createKafkaTopics } from './kafka-topics';
import { createKafkaWriter, KafkaUnavailableError, type KafkaWriterOptions } from './kafka-writer';

export interface KafkaEventLogOptions extends Partial<KafkaConsumerOptions>, Partial<KafkaWriterOptions> {
  readonly connection: KafkaConnection;
  /** Shown in the broker's logs and metrics. */
  readonly clientId: string;
  /** For topics that are created. Default 12. */
  readonly partitions?: number;
  /** For topics that are created. Default: the broker's. */
  readonly replicationFactor?: number;
  /** For topics that are created: a write fails with fewer in-sync replicas. Default: the broker's. */
  readonly minInsyncReplicas?: number;
  /**
   * Connects to the `event_log` schema that stores dead letters and offsets, in the database of the
   * handlers' effects. Required for subscriptions.
   */
  readonly consumerPool?: Pool;
  readonly clock: Clock;
  readonly log: DatabaseLog;
  readonly metrics: Registry;
  readonly limits?: Partial<EventLogLimits>;
  /** Which errors of a handler are temporary. Default: those of the database and of Kafka. */
  readonly isTransient?: (error: unknown) => boolean;
}

/**
 * The log on Kafka. Missing topics are created. Events of a key keep their order;
 * one member of a group reads a partition at a time. The consumer's database stores
 * dead letters, where they can be listed, redelivered and discarded, and the offsets
 * that it has the effects of.
 */
export interface KafkaEventLog extends EventAppender, EventSubscriber, EventLag, LagWatcher {
  /** For the groups subscribed here. Requires `consumerPool`. */
  readonly deadLetters: DeadLetters;
  /** Waits until the groups subscribed here have read the log. Returns false after `timeoutMs`. */
  drain(timeoutMs: number): Promise<boolean>;
  /** Finishes batches and writes in progress. Idempotent. */
  stop(): Promise<void>;
}

const DEFAULT_PARTITIONS = 12;
/** Key, headers and framing of a message. */
const OVERHEAD_BYTES = 64 * 1024;
const DEFAULTS: KafkaConsumerOptions & KafkaWriterOptions = {
  sessionTimeoutMs: 10_000,
  writeTimeoutMs: 2_000,
  failFastMs: 1_000,
};
const DRAIN_POLL_MS = 50;

export function createKafkaEventLog(given: KafkaEventLogOptions): KafkaEventLog {
  const { clock, log, consumerPool } = given;
  const options = { ...DEFAULTS, ...given };
  const limits: EventLogLimits = { ...DEFAULT_LIMITS, ...given.limits };
  const instruments = createInstruments(given.metrics);
  const kafka = connectKafka(given.connection, given.clientId, log);
  const topics = createKafkaTopics(
    { kafka, log, instruments },
    {
      partitions: given.partitions ?? DEFAULT_PARTITIONS,
      replicationFactor: given.replicationFactor,
      minInsyncReplicas: given.minInsyncReplicas,
      retentionMs: limits.retentionMs,
      maxMessageBytes: limits.maxPayloadBytes + OVERHEAD_BYTES,
    },
  );
  const writer = createKafkaWriter({ kafka, topics, log }, options);
  const appender = createBatchingAppender(
    {
      write: (write) => writer.write(write),
      onAppended: (topic, count) => instruments.appended.labels({ topic }).inc(count),
    },
    limits,
  );
  const isTransient = given.isTransient ?? isTransientByDefault;
  const deadLetters = consumerPool && createPostgresDeadLetters(consumerPool, clock);
  const subscriptions = new Map<RunningSubscription, TopicGroup>();
  const lagMonitor = createLagMonitor({ countWaiting, instruments, log, intervalMs: limits.lagIntervalMs });

  async function subscribe(subscription: Subscription): Promise<RunningSubscription> {
    if (consumerPool === undefined)
      throw new Error('a subscription needs a database for its dead letters and offsets');
    const deps = { clock, log, limits, instruments, isTransient };
    const worker = runDeadLetterWorker(subscription, { ...deps, pool: consumerPool });
    const consumer = runKafkaConsumer(subscription, {
      ...deps,
      pool: consumerPool,
      kafka,
      topics,
      options,
      deadLetter: (unprocessable, attempts) => worker.deadLetter(unprocessable, attempts),
    });
    const tracked: RunningSubscription = {
      async stop() {
        await Promise.all([consumer.stop(), worker.stop()]);
        subscriptions.delete(tracked);
      },
    };
    subscriptions.set(tracked, subscription);
    lagMonitor.watch(subscription);
    return tracked;
  }

  function countWaiting(group: TopicGroup): Promise<number> {
    return countWaitingEvents(kafka, group.topic, groupIdOf(group));
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
    watchLag: (group) => lagMonitor.watch(group),
    get deadLetters() {
      if (deadLetters === undefined) throw new Error('there is no database for dead letters');
      return deadLetters;
    },
    drain: (timeoutMs) => drainGroups(drainPorts, timeoutMs),
    async stop() {
      await Promise.all([lagMonitor.stop(), ...[...subscriptions.keys()].map((each) => each.stop())]);
      await appender.idle();
      await writer.stop();
      await topics.stop();
    },
  };
}

function isTransientByDefault(error: unknown): boolean {
  return isTransientDatabaseError(error) || error instanceof KafkaUnavailableError;
}
