import { describeWith, kafka, startKafka, type KafkaServer } from '@gateway/dev-infra';
import { createMetrics, createSilentLogger, systemClock } from '@gateway/runtime';
import { eventually } from '@gateway/test-support';
import { ConfigResourceTypes, Kafka, logLevel, type Admin } from 'kafkajs';
import type { Registry } from 'prom-client';
import { event } from '../event-log.contract';
import { createKafkaEventLog, type KafkaEventLog, type KafkaEventLogOptions } from './kafka-event-log';

jest.setTimeout(120_000);

describeWith(kafka, 'topics on a Kafka broker', () => {
  let server: KafkaServer;
  let admin: Admin;
  let log: KafkaEventLog | undefined;

  beforeAll(async () => {
    server = await startKafka();
    admin = new Kafka({ brokers: [server.broker], logLevel: logLevel.NOTHING }).admin();
    await admin.connect();
  });

  afterEach(() => log?.stop());

  afterAll(async () => {
    await admin?.disconnect();
    await server?.stop();
  });

  function open(options: Partial<KafkaEventLogOptions>): { log: KafkaEventLog; metrics: Registry } {
    const metrics = createMetrics({ processMetrics: false });
    log = createKafkaEventLog({
      connection: { brokers: [server.broker] },
      clientId: 'test',
      partitions: 1,
      clock: systemClock,
      log: createSilentLogger(),
      metrics,
      // So that a busy machine does not look like an unavailable broker.
      writeTimeoutMs: 30_000,
      ...options,
    });
    return { log, metrics };
  }

  async function weakSettings(metrics: Registry, topic: string): Promise<string[]> {
    const values = await eventually(
      'the comparison',
      async () => {
        const metric = await metrics.getSingleMetric('gateway_events_weak_topic_setting')?.get();
        const found = metric?.values.filter(({ labels }) => labels.topic === topic) ?? [];
        return found.length > 0 ? found : undefined;
      },
      { timeoutMs: 60_000 },
    );
    return values.filter(({ value }) => value === 1).map(({ labels }) => String(labels.setting));
  }

  it('are created with the configured number of in-sync replicas', async () => {
    const { log: opened } = open({ minInsyncReplicas: 2 });
    await opened.append('in-sync', [event('key', 'stored')]);
    const { resources } = await admin.describeConfigs({
      includeSynonyms: false,
      resources: [{ type: ConfigResourceTypes.TOPIC, name: 'in-sync', configNames: ['min.insync.replicas'] }],
    });
    expect(resources[0]?.configEntries.map(({ configValue }) => configValue)).toEqual(['2']);
  });

  it('are not reported when they keep the configured promises', async () => {
    const { log: opened, metrics } = open({ replicationFactor: 1, minInsyncReplicas: 1 });
    await opened.append('as-configured', [event('key', 'stored')]);
    expect(await weakSettings(metrics, 'as-configured')).toEqual([]);
  });

  it('are reported when existing ones promise less than is configured', async () => {
    await admin.createTopics({
      topics: [
        { topic: 'weak', numPartitions: 1, configEntries: [{ name: 'retention.ms', value: '60000' }] },
      ],
    });
    const { log: opened, metrics } = open({ partitions: 3, replicationFactor: 3, minInsyncReplicas: 2 });
    await opened.append('weak', [event('key', 'stored')]);
    expect(await weakSettings(metrics, 'weak')).toEqual([
      'partitions',
      'replication.factor',
      'min.insync.replicas',
      'retention.ms',
      'max.message.bytes',
    ]);
  });
});
