import { sleep } from '@gateway/base';
import type { Admin, Kafka } from 'kafkajs';
import { MAX_PARTITIONS } from './positions';

export interface KafkaTopicOptions {
  /** For topics that are created: at least the number of replicas that will read it. Existing topics are not changed. */
  readonly partitions: number;
  /** Default: the broker's. */
  readonly replicationFactor?: number;
  readonly retentionMs: number;
  readonly maxPayloadBytes: number;
}

export interface KafkaTopics {
  /** Resolves when the topic exists and every partition has a leader. */
  ensure(topic: string): Promise<void>;
}

/** Key, headers and framing of a message. */
const OVERHEAD_BYTES = 64 * 1024;
const POLL_MS = 50;
const LEADER_TIMEOUT_MS = 15_000;

/** Creates missing topics. Safe to call from several processes. */
export function createKafkaTopics(kafka: Kafka, options: KafkaTopicOptions): KafkaTopics {
  if (options.partitions > MAX_PARTITIONS) throw new RangeError(`more than ${MAX_PARTITIONS} partitions`);
  const ensured = new Map<string, Promise<void>>();

  async function create(topic: string): Promise<void> {
    const admin = kafka.admin();
    try {
      await admin.connect();
      if (await hasLeaders(admin, topic)) return;
      // Polls below instead of waitForLeaders, which fails on a slow broker.
      await admin.createTopics({ waitForLeaders: false, topics: [topicOf(topic, options)] });
      const deadline = Date.now() + LEADER_TIMEOUT_MS;
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
      const existing = ensured.get(topic);
      if (existing !== undefined) return existing;
      const creating = create(topic);
      ensured.set(topic, creating);
      creating.catch(() => ensured.delete(topic));
      return creating;
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
    // The topic does not exist, or has no leader yet.
    if ((error as { type?: string }).type !== undefined) return false;
    throw error;
  }
}
