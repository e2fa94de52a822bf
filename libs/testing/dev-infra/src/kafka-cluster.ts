import { findFreePort } from '@gateway/database';
import { startLocalKafka, type LocalKafkaServer } from './kafka-process';

/** Brokers that are also the controllers. */
export interface KafkaCluster {
  /** All brokers, `host:port`, separated by commas. */
  readonly brokers: string;
  /** By node id, from 1. */
  readonly servers: ReadonlyMap<number, LocalKafkaServer>;
  stop(): Promise<void>;
}

const NODES = 3;
const MIN_IN_SYNC = 2;
const HOST = '127.0.0.1';

/** Starts three brokers that store everything three times and acknowledge with two. */
export async function startKafkaCluster(
  settings: Readonly<Record<string, string>> = {},
): Promise<KafkaCluster> {
  const nodes: { id: number; port: number; controllerPort: number }[] = [];
  for (let id = 1; id <= NODES; id += 1) {
    nodes.push({ id, port: await findFreePort(), controllerPort: await findFreePort() });
  }
  const voters = nodes.map(({ id, controllerPort }) => `${id}@${HOST}:${controllerPort}`).join(',');
  const started = await Promise.allSettled(
    nodes.map(async ({ id, port, controllerPort }) => {
      const server = await startLocalKafka({
        port,
        settings: {
          'node.id': String(id),
          'controller.quorum.voters': voters,
          listeners: `PLAINTEXT://${HOST}:${port},CONTROLLER://${HOST}:${controllerPort}`,
          'default.replication.factor': String(NODES),
          'min.insync.replicas': String(MIN_IN_SYNC),
          'offsets.topic.replication.factor': String(NODES),
          'transaction.state.log.replication.factor': String(NODES),
          'transaction.state.log.min.isr': String(MIN_IN_SYNC),
          // A broker that is stopped hands its partitions over first.
          'controlled.shutdown.enable': 'true',
          'replica.lag.time.max.ms': '5000',
          ...settings,
        },
      });
      return [id, server] as const;
    }),
  );
  const servers = new Map(started.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : [])));
  const stop = async (): Promise<void> => {
    await Promise.all([...servers.values()].map((server) => server.stop()));
  };
  const failed = started.find((each) => each.status === 'rejected');
  if (failed !== undefined) {
    await stop();
    throw failed.reason;
  }
  return { brokers: nodes.map(({ port }) => `${HOST}:${port}`).join(','), servers, stop };
}
