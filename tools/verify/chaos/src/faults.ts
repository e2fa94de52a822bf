import { setTimeout as delay } from 'node:timers/promises';
import type { Cluster, Replica } from '@gateway/cluster';
import { freezeProcesses } from '@gateway/dev-infra';

/** A fault to inject. */
export interface Fault {
  readonly name: string;
  /** Whether another replica takes over, so that most requests must succeed. */
  readonly hasAnotherReplica: boolean;
  /** Whether the fault closes client connections. */
  readonly closesClientConnections: boolean;
  /** Whether a killed process may have generations in flight, which are then not charged. */
  readonly losesGenerations: boolean;
  /** Injects the fault, waits, and removes it. */
  run(): Promise<void>;
}

export interface FaultTimes {
  readonly pauseMs: number;
  readonly cutMs: number;
}

/** Downtime of a datastore after a crash. */
const DATASTORE_DOWN_MS = 3_000;

/** All faults: of one replica of each service, of each datastore, and of each network connection. */
export function allFaults(cluster: Cluster, times: FaultTimes): Fault[] {
  const firsts = cluster.replicas.filter(({ name }) => name.endsWith('-1'));
  return [
    ...firsts.flatMap((replica) => replicaFaults(cluster, replica, times)),
    ...datastoreFaults(cluster, times),
    ...[...(cluster.networkProxies?.all ?? [])].map(([name, proxy]): Fault => {
      return {
        name: `cut ${name}`,
        hasAnotherReplica: leadsToReplicatedService(cluster, name),
        closesClientConnections: false,
        losesGenerations: false,
        async run() {
          proxy.cut();
          await delay(times.cutMs);
          proxy.restore();
        },
      };
    }),
    {
      name: 'rolling restart of everything',
      hasAnotherReplica: false,
      closesClientConnections: true,
      losesGenerations: false,
      async run() {
        for (const replica of cluster.replicas) {
          await replica.restart();
          await cluster.ready();
        }
      },
    },
    {
      name: 'rebalance of every consumer',
      hasAnotherReplica: false,
      closesClientConnections: false,
      losesGenerations: false,
      async run() {
        const consumers = cluster.replicas.filter(
          ({ service }) => service === 'billing-ledger' || service === 'usage-aggregator',
        );
        await Promise.all(consumers.map((replica) => replica.restart()));
      },
    },
  ];
}

function replicaFaults(cluster: Cluster, replica: Replica, { pauseMs }: FaultTimes): Fault[] {
  const { service, name } = replica;
  const rest = {
    hasAnotherReplica: cluster.replicas.filter((each) => each.service === service).length > 1,
    closesClientConnections: service === 'edge-proxy',
  };
  const losesGenerations = service === 'inference-router' || service === 'edge-proxy';
  return [
    { name: `kill -9 ${name}`, ...rest, losesGenerations, run: async () => replica.kill() },
    {
      name: `pause ${name}`,
      ...rest,
      losesGenerations,
      async run() {
        replica.pause();
        await delay(pauseMs);
        replica.resume();
      },
    },
    { name: `restart ${name}`, ...rest, losesGenerations: false, run: () => replica.restart() },
  ];
}

function datastoreFaults({ datastores }: Cluster, { pauseMs }: FaultTimes): Fault[] {
  const { postgres, redis, kafka } = datastores;
  const rest = { hasAnotherReplica: false, closesClientConnections: false, losesGenerations: false };
  const crash = (name: string, datastore: { kill(): Promise<void>; start(): Promise<void> }): Fault => ({
    name: `kill -9 ${name}`,
    ...rest,
    async run() {
      await datastore.kill();
      await delay(DATASTORE_DOWN_MS);
      await datastore.start();
    },
  });
  const pause = (name: string, datastore: { pause(): Promise<void>; resume(): Promise<void> }): Fault => ({
    name: `pause ${name}`,
    ...rest,
    async run() {
      await datastore.pause();
      await delay(pauseMs);
      await datastore.resume();
    },
  });
  return [
    crash('Redis', redis),
    pause('Redis', redis),
    ...(kafka ? [crash('Kafka', kafka), pause('Kafka', kafka)] : []),
    // Its supervisor restarts it.
    { name: 'kill -9 PostgreSQL', ...rest, run: async () => void process.kill(postgres.pid, 'SIGKILL') },
    {
      name: 'pause PostgreSQL',
      ...rest,
      async run() {
        const unfreeze = freezeProcesses(postgres.pid);
        await delay(pauseMs);
        unfreeze();
      },
    },
  ];
}

/** Whether a connection leads to a service with more than one replica. */
function leadsToReplicatedService(cluster: Cluster, connection: string): boolean {
  const service = connection.split(' → ')[1]?.replace(/-\d+$/, '');
  return cluster.replicas.filter((replica) => replica.service === service).length > 1;
}
