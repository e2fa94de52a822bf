import { setTimeout as delay } from 'node:timers/promises';
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
const LEADER_POLL_MS = 50;

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

  /** Sends again for as long as the brokers only say that the partition's leader is about to change. */
  async function sendToLeader(write: Write, untilMs: number): Promise<void> {
    for (;;) {
      try {
        return await send(write);
      } catch (error) {
        if (!isWithoutLeader(error) || performance.now() >= untilMs) throw error;
        discard();
        await delay(LEADER_POLL_MS);
      }
    }
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
        await inTime(sendToLeader(write, performance.now() + writeTimeoutMs), writeTimeoutMs);
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

function inTime<Value>(work: Promise<Value>, ms: number): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no acknowledgement within ${ms} ms`)), ms);
  });
  work.catch(() => undefined);
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
