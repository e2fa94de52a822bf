import { sleep } from '@gateway/base';
import type { Admin, Kafka } from 'kafkajs';
import { MAX_PARTITIONS } from './positions';

export interface KafkaTopicOptions {
  /** Of a topic that is made; more than the replicas that will ever read it. A topic that exists keeps its own. */
  readonly partitions: number;
  /** The broker's default when absent. */
  readonly replicationFactor?: number;
  readonly retentionMs: number;
  readonly maxPayloadBytes: number;
}

export interface KafkaTopics {
  /** Resolves when the topic is there and every partition has a leader. */
  ensure(topic: string): Promise<void>;
}

/** What a message has beside its payload: key, headers, framing. */
const OVERHEAD_BYTES = 64 * 1024;
const POLL_MS = 50;
const PATIENCE_MS = 15_000;

/** Makes the topics that are missing. Any number of processes may do so at once. */
export function createKafkaTopics(kafka: Kafka, options: KafkaTopicOptions): KafkaTopics {
  if (options.partitions > MAX_PARTITIONS) throw new RangeError(`more than ${MAX_PARTITIONS} partitions`);
  const ensured = new Map<string, Promise<void>>();

  async function make(topic: string): Promise<void> {
    const admin = kafka.admin();
    try {
      await admin.connect();
      if (await hasLeaders(admin, topic)) return;
      // Without waiting: that would fail on a broker that takes a moment.
      await admin.createTopics({ waitForLeaders: false, topics: [topicOf(topic, options)] });
      const deadline = Date.now() + PATIENCE_MS;
      while (!(await hasLeaders(admin, topic))) {
        if (Date.now() > deadline) throw new Error(`the topic ${topic} has no leader`);
        await sleep(POLL_MS);
      }
    } finally {
      await admin.disconnect().catch(() => undefined);
    }
  }

  return {
    ensure(topic) {
      const known = ensured.get(topic);
      if (known !== undefined) return known;
      const making = make(topic);
      ensured.set(topic, making);
      making.catch(() => ensured.delete(topic));
      return making;
    },
  };
}

function topicOf(topic: string, options: KafkaTopicOptions) {
  const { partitions, replicationFactor, retentionMs, maxPayloadBytes } = options;
  return {
    topic,
    numPartitions: partitions,
    ...(replicationFactor === undefined ? {} : { replicationFactor }),
    configEntries: [
      { name: 'retention.ms', value: String(retentionMs) },
      { name: 'max.message.bytes', value: String(maxPayloadBytes + OVERHEAD_BYTES) },
    ],
  };
}

async function hasLeaders(admin: Admin, topic: string): Promise<boolean> {
  try {
    const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
    const partitions = topics[0]?.partitions ?? [];
    return partitions.length > 0 && partitions.every(({ leader }) => leader >= 0);
  } catch (error) {
    // "This server does not host this topic-partition", or no leader yet.
    if ((error as { type?: string }).type !== undefined) return false;
    throw error;
  }
}
