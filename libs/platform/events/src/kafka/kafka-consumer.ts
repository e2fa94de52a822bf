import { maintainConnection } from '@gateway/base';
import type { Consumer, EachBatchPayload, Kafka, KafkaMessage } from 'kafkajs';
import { chunksOfEvents } from '../delivery/chunks';
import { createDelivery, DeliveryStopped } from '../delivery/deliver';
import { createWaiter } from '../delivery/waiter';
import type { LoggedEvent, RunningSubscription, Subscription, TopicGroup, Unprocessable } from '../event-log';
import type { ConsumerDeps } from '../postgres/consumer-session';
import { createJointDelivery, type JointDelivery } from './joint-delivery';
import type { KafkaTopics } from './kafka-topics';
import { afterPosition, offsetOf, positionOf } from './positions';

export interface KafkaConsumerDeps extends Omit<ConsumerDeps, 'pool'> {
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
 * effect: at least once. After some errors, such as an unknown member id, kafkajs
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
    const joint = jointDeliveryOf(consumer);
    try {
      await deps.topics.ensure(topic);
      const crashed = crashOf(consumer, opened);
      await consumer.connect();
      await consumer.subscribe({ topic, fromBeginning: true });
      await consumer.run({
        autoCommit: false,
        eachBatchAutoResolve: false,
        partitionsConsumedConcurrently: MAX_JOINT_PARTITIONS,
        eachBatch: (payload) => handleBatch(joint, payload),
      });
      await Promise.race([crashed, waiter.whenStopped]);
    } finally {
      await consumer.disconnect().catch(() => undefined);
    }
  }

  function jointDeliveryOf(consumer: Consumer): JointDelivery {
    const commit = async (last: readonly LoggedEvent[]): Promise<void> => {
      await consumer.commitOffsets(last.map(({ position }) => ({ topic, ...afterPosition(position) })));
    };
    const deliver = createDelivery(subscription, {
      ...deps,
      commit: (event) => commit([event]),
      pause: async (ms) => {
        if (ms > 0) await waiter.pause(ms);
        joint.assertAssigned();
      },
    });
    const joint = createJointDelivery({ deliver, commit, maxBatchSize });
    return joint;
  }

  async function handleBatch(joint: JointDelivery, payload: EachBatchPayload): Promise<void> {
    const { batch, isRunning, isStale, resolveOffset } = payload;
    const alive = keepAlive(payload);
    const isAssigned = (): boolean =>
      isRunning() && !isStale() && !waiter.stopped && alive.lost() === undefined;
    try {
      const events = batch.messages.map((message) => toEvent(topic, batch.partition, message));
      for (const chunk of chunksOfEvents(events, maxBatchSize, limits.maxBatchBytes)) {
        // A skipped batch must be delivered again, so its offset is not resolved.
        if (!(await joint.submit({ events: chunk, isAssigned }))) break;
        resolveOffset(offsetOf((chunk.at(-1) as LoggedEvent).position));
      }
      // A batch costs about the same for one event as for fifty, and no response waits for it.
      if (batch.offsetLag() === '0') await waiter.pause(limits.lingerMs);
    } catch (error) {
      if (!(error instanceof DeliveryStopped)) throw error;
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

/** Never resolves; rejects when the consumer has crashed. */
function crashOf(consumer: Consumer, onJoined: () => void): Promise<never> {
  consumer.on(consumer.events.GROUP_JOIN, onJoined);
  const crashed = new Promise<never>((_, reject) => {
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
