/** For topics that are created. Existing topics are compared with it, and not changed. */
export interface KafkaTopicOptions {
  /** At least the number of replicas that will read the topic. */
  readonly partitions: number;
  /** Default: the broker's. */
  readonly replicationFactor: number | undefined;
  /** A write fails with fewer in-sync replicas. Default: the broker's. */
  readonly minInsyncReplicas: number | undefined;
  readonly retentionMs: number;
  readonly maxMessageBytes: number;
}
