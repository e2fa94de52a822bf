import { setTimeout as delay } from 'node:timers/promises';
import { startKafkaCluster, type KafkaCluster } from '@gateway/dev-infra';
import { TOPIC_GENERATION_FINISHED, TOPIC_GENERATION_SETTLED } from '@gateway/events';
import { eventually } from '@gateway/test-support';
import { withKafkaAdmin } from '../kafka-admin';
import { failover, type Scenario } from './scenario';

/** How long a killed broker stays away; longer than the election of other leaders. */
const OUTAGE_MS = 8_000;
const TOPICS = [TOPIC_GENERATION_FINISHED, TOPIC_GENERATION_SETTLED];
const TIMEOUT = { timeoutMs: 60_000 };

/** Kills the broker that leads a partition of the settlements, and starts it again. */
async function killLeader(cluster: KafkaCluster): Promise<void> {
  const leader = await withKafkaAdmin(cluster.brokers, async (admin) => {
    const { topics } = await admin.fetchTopicMetadata({ topics: [TOPIC_GENERATION_FINISHED] });
    return topics[0]?.partitions[0]?.leader ?? -1;
  });
  const server = cluster.servers.get(leader);
  if (server === undefined) throw new Error(`the partition is led by an unknown broker: ${leader}`);
  await server.kill();
  await delay(OUTAGE_MS);
  await server.start();
  await untilInSync(cluster);
}

async function restartOneByOne(cluster: KafkaCluster): Promise<void> {
  for (const server of cluster.servers.values()) {
    await server.shutDown();
    await server.start();
    await untilInSync(cluster);
  }
}

async function untilInSync(cluster: KafkaCluster): Promise<void> {
  const isInSync = () =>
    withKafkaAdmin(cluster.brokers, async (admin) => {
      const { topics } = await admin.fetchTopicMetadata({ topics: TOPICS });
      const partitions = topics.flatMap((topic) => topic.partitions);
      return partitions.every(({ isr }) => isr.length === cluster.servers.size) || undefined;
    }).catch(() => undefined);
  await eventually('every broker is in sync', isInSync, TIMEOUT);
}

const kafkaLeader: Scenario = {
  name: 'kafka-leader',
  async run(lab) {
    const cluster = await startKafkaCluster();
    try {
      return await lab.runUnderLoad({ brokers: cluster.brokers }, [
        failover('kill -9 of the leader of a partition', () => killLeader(cluster)),
        failover('rolling restart of the brokers', () => restartOneByOne(cluster)),
      ]);
    } finally {
      await cluster.stop();
    }
  },
};

export const KAFKA_SCENARIOS: readonly Scenario[] = [kafkaLeader];
