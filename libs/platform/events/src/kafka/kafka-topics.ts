import { sleep } from '@gateway/base';
import type { DatabaseLog } from '@gateway/database';
import type { Admin, Kafka } from 'kafkajs';
import type { EventLogInstruments } from '../delivery/instruments';
import type { KafkaTopicOptions } from './kafka-topic-options';
import { MAX_PARTITIONS } from './positions';
import { findWeakSettings, TOPIC_SETTINGS } from './weak-topic-settings';

export interface KafkaTopicsPorts {
  readonly kafka: Kafka;
  readonly log: DatabaseLog;
  readonly instruments: EventLogInstruments;
}

export interface KafkaTopics {
  /** Resolves when the topic exists and every partition has a leader. */
  ensure(topic: string): Promise<void>;
  /** Waits for comparisons in progress. */
  stop(): Promise<void>;
}

const POLL_MS = 50;
const LEADER_TIMEOUT_MS = 15_000;

/** Creates missing topics, and reports those that promise less than the options. Safe to call from several processes. */
export function createKafkaTopics(
  { kafka, log, instruments }: KafkaTopicsPorts,
  options: KafkaTopicOptions,
): KafkaTopics {
  if (options.partitions > MAX_PARTITIONS) throw new RangeError(`more than ${MAX_PARTITIONS} partitions`);
  const ensured = new Map<string, Promise<void>>();
  const comparisons = new Set<Promise<void>>();

  async function withAdmin(work: (admin: Admin) => Promise<void>): Promise<void> {
    const admin = kafka.admin();
    try {
      await admin.connect();
      await work(admin);
    } finally {
      await admin.disconnect().catch(() => undefined);
    }
  }

  async function create(admin: Admin, topic: string): Promise<void> {
    if (await hasLeaders(admin, topic)) return;
    // Polls below instead of waitForLeaders, which fails on a slow broker.
    await admin.createTopics({ waitForLeaders: false, topics: [topicOf(topic, options)] });
    const deadline = Date.now() + LEADER_TIMEOUT_MS;
    while (!(await hasLeaders(admin, topic))) {
      if (Date.now() > deadline) throw new Error(`the topic ${topic} has no leader`);
      await sleep(POLL_MS);
    }
  }

  async function compare(topic: string): Promise<void> {
    try {
      await withAdmin(async (admin) => {
        const weak = await findWeakSettings(admin, topic, options);
        for (const setting of TOPIC_SETTINGS) {
          instruments.weakTopicSettings.set(
            { topic, setting },
            weak.some((each) => each.setting === setting) ? 1 : 0,
          );
        }
        for (const each of weak)
          log.warn({ topic, ...each }, 'a Kafka topic promises less than is configured');
      });
    } catch (error) {
      log.info(
        { err: error, topic },
        'the settings of a Kafka topic cannot be compared with the configured ones',
      );
    }
  }

  return {
    ensure(topic) {
      const existing = ensured.get(topic);
      if (existing !== undefined) return existing;
      const creating = withAdmin((admin) => create(admin, topic));
      ensured.set(topic, creating);
      creating.then(
        () => {
          // Not awaited, because a request may wait for the topic.
          const comparison = compare(topic).finally(() => comparisons.delete(comparison));
          comparisons.add(comparison);
        },
        () => ensured.delete(topic),
      );
      return creating;
    },
    async stop() {
      await Promise.all(comparisons);
    },
  };
}

function topicOf(topic: string, options: KafkaTopicOptions) {
  const { partitions, replicationFactor, minInsyncReplicas, retentionMs, maxMessageBytes } = options;
  return {
    topic,
    numPartitions: partitions,
    replicationFactor,
    configEntries: [
      { name: 'retention.ms', value: String(retentionMs) },
      { name: 'max.message.bytes', value: String(maxMessageBytes) },
      ...(minInsyncReplicas === undefined
        ? []
        : [{ name: 'min.insync.replicas', value: String(minInsyncReplicas) }]),
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
