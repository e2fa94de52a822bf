import { retry, withTimeout } from '@gateway/base';
import type { DatabaseLog } from '@gateway/database';
import { Partitioners, type Kafka, type Message, type Producer } from 'kafkajs';
import type { Write } from '../delivery/batching-appender';
import type { KafkaTopics } from './kafka-topics';

/** A write was not acknowledged in time. Whether it succeeded is unknown. */
export class KafkaUnavailableError extends Error {
  override readonly name = 'KafkaUnavailableError';
}

export interface KafkaWriterPorts {
  readonly kafka: Kafka;
  readonly topics: KafkaTopics;
  readonly log: DatabaseLog;
}

export interface KafkaWriterOptions {
  /** A write fails unless all in-sync replicas acknowledge it within this time. */
  readonly writeTimeoutMs: number;
  /** After a failure, writes fail immediately for this long, because a request waits for each. */
  readonly failFastMs: number;
}

export interface KafkaWriter {
  write(write: Write): Promise<void>;
  stop(): Promise<void>;
}

const ALL_IN_SYNC = -1;
const NO_PARTITION = -1;
/** Temporary after the creation of a topic or the start of a broker. */
const NO_LEADER = new Set(['NOT_LEADER_FOR_PARTITION', 'LEADER_NOT_AVAILABLE', 'UNKNOWN_TOPIC_OR_PARTITION']);
const NO_LEADER_BACKOFF = { firstMs: 100, maxMs: 100 };

/**
 * Writes with an idempotent producer, one request at a time. A failed producer is
 * replaced, because its sequence numbers may no longer match the broker's.
 */
export function createKafkaWriter(
  { kafka, topics, log }: KafkaWriterPorts,
  { writeTimeoutMs, failFastMs }: KafkaWriterOptions,
): KafkaWriter {
  let producer: Promise<Producer> | undefined;
  let failFastUntilMs = 0;
  /** As the producer chose them. */
  const partitions = new WeakMap<Message, number>();

  async function connect(): Promise<Producer> {
    const created = kafka.producer({
      idempotent: true,
      maxInFlightRequests: 1,
      allowAutoTopicCreation: false,
      createPartitioner: () => {
        const choose = Partitioners.DefaultPartitioner();
        return (input) => {
          const partition = choose(input);
          partitions.set(input.message, partition);
          return partition;
        };
      },
    });
    await created.connect();
    return created;
  }

  async function send({ topic, events }: Write): Promise<void> {
    await topics.ensure(topic);
    producer ??= connect();
    const messages = events.map(({ key, payload, headers }) => ({
      key,
      value: Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength),
      headers: { ...headers },
    }));
    const record = { topic, messages, acks: ALL_IN_SYNC, timeout: writeTimeoutMs };
    const acknowledged = new Set((await (await producer).send(record)).map(({ partition }) => partition));
    // When a leader moves during a send, kafkajs drops its partition if the new leader has acknowledged others already.
    if (messages.some((message) => !acknowledged.has(partitions.get(message) ?? NO_PARTITION)))
      throw new Error('Kafka has not acknowledged every partition of a write');
  }

  /** Retries while the partition has no leader. */
  function sendToLeader(write: Write, signal: AbortSignal): Promise<void> {
    return retry(() => send(write), {
      backoff: NO_LEADER_BACKOFF,
      signal,
      isRetryable: isWithoutLeader,
      onRetry: discard,
    });
  }

  /** Disconnects in the background, because this may hang on an unresponsive connection. */
  function discard(): void {
    const failed = producer;
    producer = undefined;
    void failed?.then((created) => created.disconnect()).catch(() => undefined);
  }

  return {
    async write(write) {
      if (performance.now() < failFastUntilMs) {
        throw new KafkaUnavailableError('a recent write to Kafka failed');
      }
      try {
        await withTimeout(
          (signal) => sendToLeader(write, signal),
          writeTimeoutMs,
          'the acknowledgement of a write',
        );
      } catch (error) {
        discard();
        failFastUntilMs = performance.now() + failFastMs;
        log.warn({ err: error, topic: write.topic }, 'writing events to Kafka failed');
        throw new KafkaUnavailableError('writing events to Kafka failed', { cause: error });
      }
    },
    async stop() {
      const last = await producer?.catch(() => undefined);
      producer = undefined;
      await last?.disconnect().catch(() => undefined);
    },
  };
}

function isWithoutLeader(error: unknown): boolean {
  const { type, cause } = error as { type?: string; cause?: unknown };
  return (type !== undefined && NO_LEADER.has(type)) || (cause instanceof Error && isWithoutLeader(cause));
}
