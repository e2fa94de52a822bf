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
        await inTime(send(write), writeTimeoutMs);
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

function inTime<Value>(work: Promise<Value>, ms: number): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no acknowledgement within ${ms} ms`)), ms);
  });
  work.catch(() => undefined);
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
