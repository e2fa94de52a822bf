import { retry, withTimeout } from '@gateway/base';
import type { DatabaseLog } from '@gateway/database';
import type { Kafka, Producer } from 'kafkajs';
import type { Write } from '../delivery/batching-appender';
import type { KafkaTopics } from './kafka-topics';

/** The log could not be written in time; whether it was is not known. */
export class KafkaUnavailableError extends Error {
  override readonly name = 'KafkaUnavailableError';
}

export interface KafkaWriterPorts {
  readonly kafka: Kafka;
  readonly topics: KafkaTopics;
  readonly log: DatabaseLog;
}

export interface KafkaWriterOptions {
  /** What is not acknowledged by all in-sync replicas within this long has failed. */
  readonly writeTimeoutMs: number;
  /** After a failure, writes fail at once for this long: somebody waits for each. */
  readonly restMs: number;
}

export interface KafkaWriter {
  write(write: Write): Promise<void>;
  stop(): Promise<void>;
}

const ALL_IN_SYNC = -1;
/** A topic that was just made, or a broker that just came, has its leaders a moment later. */
const NO_LEADER = new Set(['NOT_LEADER_FOR_PARTITION', 'LEADER_NOT_AVAILABLE', 'UNKNOWN_TOPIC_OR_PARTITION']);
const NO_LEADER_BACKOFF = { firstMs: 100, maxMs: 100 };

/**
 * Writes by an idempotent producer, one request at a time. A producer that
 * failed is thrown away: its sequence numbers may no longer be the broker's.
 */
export function createKafkaWriter(
  { kafka, topics, log }: KafkaWriterPorts,
  { writeTimeoutMs, restMs }: KafkaWriterOptions,
): KafkaWriter {
  let producer: Promise<Producer> | undefined;
  let restsUntilMs = 0;

  async function connect(): Promise<Producer> {
    const made = kafka.producer({ idempotent: true, maxInFlightRequests: 1, allowAutoTopicCreation: false });
    await made.connect();
    return made;
  }

  async function send({ topic, events }: Write): Promise<void> {
    await topics.ensure(topic);
    producer ??= connect();
    const messages = events.map(({ key, payload, headers }) => ({
      key,
      value: Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength),
      headers: { ...headers },
    }));
    await (await producer).send({ topic, messages, acks: ALL_IN_SYNC, timeout: writeTimeoutMs });
  }

  /** Sends again while the partition has no leader. */
  function sendToLeader(write: Write, signal: AbortSignal): Promise<void> {
    return retry(() => send(write), {
      backoff: NO_LEADER_BACKOFF,
      signal,
      isRetryable: isWithoutLeader,
      onRetry: discard,
    });
  }

  /** Ends without being waited for: it may hang on a connection that is silent. */
  function discard(): void {
    const failed = producer;
    producer = undefined;
    void failed?.then((made) => made.disconnect()).catch(() => undefined);
  }

  return {
    async write(write) {
      if (performance.now() < restsUntilMs) {
        throw new KafkaUnavailableError('Kafka could not be written a moment ago');
      }
      try {
        await withTimeout(
          (signal) => sendToLeader(write, signal),
          writeTimeoutMs,
          'the acknowledgement of a write',
        );
      } catch (error) {
        discard();
        restsUntilMs = performance.now() + restMs;
        log.warn({ err: error, topic: write.topic }, 'events could not be written to Kafka');
        throw new KafkaUnavailableError('events could not be written to Kafka', { cause: error });
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
