import { maintainConnection } from '@gateway/base';
import type { Consumer, EachBatchPayload, Kafka, KafkaMessage } from 'kafkajs';
import { chunksOfEvents } from '../delivery/chunks';
import { createDelivery, DeliveryStopped } from '../delivery/deliver';
import { createWaiter } from '../delivery/waiter';
import type {
  EventHandler,
  LoggedEvent,
  RunningSubscription,
  Subscription,
  TopicGroup,
  Unprocessable,
} from '../event-log';
import { StoredOffsetsBehindError } from '../postgres/consumer-offsets';
import type { ConsumerDeps } from '../postgres/consumer-session';
import { readCommittedOffsets, readOffsetRanges } from './group-offsets';
import { createJointDelivery, type JointDelivery } from './joint-delivery';
import type { KafkaTopics } from './kafka-topics';
import { afterPosition, offsetOf, positionOf } from './positions';
import { createStoredOffsets, type StoredOffsets } from './stored-offsets';

export interface KafkaConsumerDeps extends ConsumerDeps {
  readonly kafka: Kafka;
  readonly topics: KafkaTopics;
  /** Stores failed events as dead letters. Idempotent. */
  readonly deadLetter: (failed: readonly Unprocessable[], attempts: number) => Promise<void>;
  readonly options: KafkaConsumerOptions;
}

export interface KafkaConsumerOptions {
  /** A member without heartbeats for this long loses its partitions. */
  readonly sessionTimeoutMs: number;
}

const HEARTBEATS_PER_SESSION = 6;
const MAX_WAIT_MS = 1_000;
/** Partitions whose events are handled together. */
const MAX_JOINT_PARTITIONS = 32;

/** One Kafka group per topic, so that members need not have the same subscriptions. */
export function groupIdOf({ topic, group }: TopicGroup): string {
  return `${group}.${topic}`;
}

/**
 * Runs one member of a consumer group until it is stopped. Commits after the
 * effect: at least once. The database of the effects stores the offsets as well, and
 * the lower ones count. After some errors, such as an unknown member id, kafkajs
 * crashes the consumer; a new one replaces it.
 */
export function runKafkaConsumer(subscription: Subscription, deps: KafkaConsumerDeps): RunningSubscription {
  const { topic, group } = subscription;
  const { limits, log, options } = deps;
  const maxBatchSize = subscription.maxBatchSize ?? limits.maxBatchSize;
  const waiter = createWaiter();
  const heartbeatMs = Math.floor(options.sessionTimeoutMs / HEARTBEATS_PER_SESSION);

  /** Runs one consumer until it crashes or is stopped. */
  async function runOnce(opened: () => void): Promise<void> {
    const consumer = deps.kafka.consumer({
      groupId: groupIdOf(subscription),
      sessionTimeout: options.sessionTimeoutMs,
      rebalanceTimeout: 2 * options.sessionTimeoutMs,
      heartbeatInterval: heartbeatMs,
      maxWaitTimeInMs: MAX_WAIT_MS,
      maxBytes: limits.maxBatchBytes,
      allowAutoTopicCreation: false,
      // maintainConnection replaces a crashed consumer, so kafkajs must not restart it as well.
      retry: { retries: 5, restartOnFailure: async () => false },
    });
    const offsets = storedOffsetsOf(consumer);
    const joint = jointDeliveryOf(consumer, offsets);
    const handling = new Set<Promise<void>>();
    let checks: NodeJS.Timeout | undefined;
    try {
      await deps.topics.ensure(topic);
      const crashed = crashOf(consumer, offsets, opened);
      await consumer.connect();
      await consumer.subscribe({ topic, fromBeginning: true });
      await consumer.run({
        autoCommit: false,
        eachBatchAutoResolve: false,
        partitionsConsumedConcurrently: MAX_JOINT_PARTITIONS,
        eachBatch: async (payload) => {
          const handled = handleBatch(joint, offsets, payload);
          handling.add(handled);
          await handled.finally(() => handling.delete(handled));
        },
      });
      checks = setInterval(() => void checkOffsets(offsets), limits.lagIntervalMs);
      await Promise.race([crashed, waiter.whenStopped]);
      // A consumer that disconnects commits nothing more.
      await Promise.allSettled(handling);
    } finally {
      clearInterval(checks);
      await consumer.disconnect().catch(() => undefined);
    }
  }

  function storedOffsetsOf(consumer: Consumer): StoredOffsets {
    const { kafka, pool, instruments } = deps;
    return createStoredOffsets(subscription, {
      pool,
      readCommitted: () => readCommittedOffsets(kafka, topic, groupIdOf(subscription)),
      readRanges: () => readOffsetRanges(kafka, topic),
      seek: (partition, offset) => consumer.seek({ topic, partition, offset: String(offset) }),
      instruments,
      log,
    });
  }

  async function checkOffsets(offsets: StoredOffsets): Promise<void> {
    try {
      await offsets.check();
    } catch (error) {
      log.debug({ err: error, topic, group }, 'checking the stored offsets of a Kafka consumer failed');
    }
  }

  function jointDeliveryOf(consumer: Consumer, offsets: StoredOffsets): JointDelivery {
    // After a seek the known offsets are those that it starts from. To store a later one would skip what is in between.
    const commit = async (last: readonly LoggedEvent[]): Promise<void> => {
      joint.assertNotSought();
      await offsets.store(last);
      await consumer.commitOffsets(last.map(({ position }) => ({ topic, ...afterPosition(position) })));
    };
    const handle: EventHandler = async (events) => {
      joint.assertNotSought();
      await subscription.handle(events, offsets.progressOf(events));
    };
    const deliver = createDelivery(
      { ...subscription, handle },
      {
        ...deps,
        commit: (event) => commit([event]),
        pause: async (ms) => {
          if (ms > 0) await waiter.pause(ms);
          joint.assertAssigned();
        },
      },
    );
    const joint = createJointDelivery({ deliver, commit, maxBatchSize });
    return joint;
  }

  async function handleBatch(
    joint: JointDelivery,
    offsets: StoredOffsets,
    payload: EachBatchPayload,
  ): Promise<void> {
    const { batch, isRunning, isStale, resolveOffset } = payload;
    const alive = keepAlive(payload);
    const isAssigned = (): boolean =>
      isRunning() && !isStale() && !waiter.stopped && alive.lost() === undefined;
    try {
      await offsets.aligned;
      const { seeks } = offsets;
      const isSought = (): boolean => offsets.seeks !== seeks;
      if (offsets.isOutOfPlace(batch.partition, BigInt(batch.firstOffset() ?? 0))) {
        await offsets.realign();
        return;
      }
      const events = batch.messages.map((message) => toEvent(topic, batch.partition, message));
      for (const chunk of chunksOfEvents(events, maxBatchSize, limits.maxBatchBytes)) {
        // A skipped batch must be delivered again, so its offset is not resolved.
        if (!(await joint.submit({ events: chunk, isAssigned, isSought }))) break;
        resolveOffset(offsetOf((chunk.at(-1) as LoggedEvent).position));
      }
      // A batch costs about the same for one event as for fifty, and no response waits for it.
      if (batch.offsetLag() === '0') await waiter.pause(limits.lingerMs);
    } catch (error) {
      if (error instanceof StoredOffsetsBehindError) await offsets.realign();
      else if (!(error instanceof DeliveryStopped)) throw error;
    } finally {
      alive.stop();
    }
    // A heartbeat failed during the handler: the consumer has to rejoin the group.
    const lost = alive.lost();
    if (lost !== undefined) throw lost;
  }

  /** Sends heartbeats while the handler runs. */
  function keepAlive({ heartbeat }: EachBatchPayload): { lost(): unknown; stop(): void } {
    let lost: unknown;
    const timer = setInterval(() => {
      heartbeat().catch((error: unknown) => (lost ??= error));
    }, heartbeatMs);
    return { lost: () => lost, stop: () => clearInterval(timer) };
  }

  const running = maintainConnection(runOnce, {
    backoff: limits.backoff,
    signal: waiter.signal,
    onFailure: (error, { failures }) =>
      log.warn({ err: error, topic, group, failures }, 'a Kafka consumer failed; starting a new one'),
  });
  return {
    async stop() {
      waiter.stop();
      await running;
    },
  };
}

/** Seeks the partitions of each assignment. Never resolves; rejects when this fails, or the consumer has crashed. */
function crashOf(consumer: Consumer, offsets: StoredOffsets, onJoined: () => void): Promise<never> {
  const crashed = new Promise<never>((_, reject) => {
    consumer.on(consumer.events.GROUP_JOIN, ({ payload: { memberAssignment } }) => {
      offsets.assign(Object.values(memberAssignment).flat()).then(onJoined, reject);
    });
    consumer.on(consumer.events.CRASH, ({ payload }) => reject(payload.error));
  });
  crashed.catch(() => undefined);
  return crashed;
}

function toEvent(
  topic: string,
  partition: number,
  { key, value, headers, offset }: KafkaMessage,
): LoggedEvent {
  return {
    topic,
    position: positionOf(partition, offset),
    key: key?.toString() ?? '',
    payload: value ?? Buffer.alloc(0),
    headers: Object.fromEntries(Object.entries(headers ?? {}).map(([name, text]) => [name, String(text)])),
  };
}
