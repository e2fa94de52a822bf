import { ConfigResourceTypes, type Admin } from 'kafkajs';
import type { KafkaTopicOptions } from './kafka-topic-options';

/** A setting of an existing topic that promises less than the configured one. */
export interface WeakTopicSetting {
  readonly setting: TopicSetting;
  readonly configured: number;
  readonly actual: number;
}

export const TOPIC_SETTINGS = [
  'partitions',
  'replication.factor',
  'min.insync.replicas',
  'retention.ms',
  'max.message.bytes',
] as const;
type TopicSetting = (typeof TOPIC_SETTINGS)[number];

/** What the topic must have at least. Undefined: the broker's default is accepted. */
function configuredSettings(options: KafkaTopicOptions): Record<TopicSetting, number | undefined> {
  return {
    partitions: options.partitions,
    'replication.factor': options.replicationFactor,
    'min.insync.replicas': options.minInsyncReplicas,
    'retention.ms': options.retentionMs,
    'max.message.bytes': options.maxMessageBytes,
  };
}

/** Needs the operation DescribeConfigs on the topic. */
export async function findWeakSettings(
  admin: Admin,
  topic: string,
  options: KafkaTopicOptions,
): Promise<readonly WeakTopicSetting[]> {
  const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
  const partitions = topics[0]?.partitions ?? [];
  const { resources } = await admin.describeConfigs({
    includeSynonyms: false,
    resources: [{ type: ConfigResourceTypes.TOPIC, name: topic }],
  });
  const entries = resources[0]?.configEntries ?? [];
  const configured = configuredSettings(options);
  const actualOf = (setting: TopicSetting): number => {
    if (setting === 'partitions') return partitions.length;
    if (setting === 'replication.factor')
      return Math.min(...partitions.map(({ replicas }) => replicas.length));
    const value = Number(entries.find(({ configName }) => configName === setting)?.configValue);
    // Kafka writes an unlimited retention as -1.
    return setting === 'retention.ms' && value === -1 ? Infinity : value;
  };
  return TOPIC_SETTINGS.flatMap((setting) => {
    const wanted = configured[setting];
    const actual = actualOf(setting);
    return wanted === undefined || actual >= wanted ? [] : [{ setting, configured: wanted, actual }];
  });
}
