import { setTimeout as delay } from 'node:timers/promises';
import type { Cluster, Replica } from '@gateway/cluster';
import { freezeProcesses } from '@gateway/test-support';

/** Something that breaks, and how long until it is whole again. */
export interface Fault {
  readonly name: string;
  /** Whether another replica goes on doing the work, so that most requests must succeed. */
  readonly hasDouble: boolean;
  /** Whether connections of clients end with it. */
  readonly touchesClients: boolean;
  /** Whether a generation may be under way in a process that is lost, and with it what it would have cost. */
  readonly losesGenerations: boolean;
  /** Breaks it, waits, and mends it. */
  run(): Promise<void>;
}

export interface FaultTimes {
  readonly pauseMs: number;
  readonly cutMs: number;
}

/** Between a crash of an engine and its next start. */
const ENGINE_AWAY_MS = 3_000;

/** Every fault that the cluster can have: of each service one replica, of each engine, of each wire. */
export function allFaults(cluster: Cluster, times: FaultTimes): Fault[] {
  const firsts = cluster.replicas.filter(({ name }) => name.endsWith('-1'));
  return [
    ...firsts.flatMap((replica) => replicaFaults(cluster, replica, times)),
    ...engineFaults(cluster, times),
    ...[...(cluster.wires?.all ?? [])].map(([name, wire]): Fault => {
      return {
        name: `cut ${name}`,
        hasDouble: isOneOfTwo(cluster, name),
        touchesClients: false,
        losesGenerations: false,
        async run() {
          wire.cut();
          await delay(times.cutMs);
          wire.heal();
        },
      };
    }),
    {
      name: 'rolling restart of everything',
      hasDouble: false,
      touchesClients: true,
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
      hasDouble: false,
      touchesClients: false,
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
    hasDouble: cluster.replicas.filter((each) => each.service === service).length > 1,
    touchesClients: service === 'edge-proxy',
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

function engineFaults({ engines }: Cluster, { pauseMs }: FaultTimes): Fault[] {
  const { postgres, redis, kafka } = engines;
  const rest = { hasDouble: false, touchesClients: false, losesGenerations: false };
  const crash = (name: string, engine: { kill(): Promise<void>; start(): Promise<void> }): Fault => ({
    name: `kill -9 ${name}`,
    ...rest,
    async run() {
      await engine.kill();
      await delay(ENGINE_AWAY_MS);
      await engine.start();
    },
  });
  const pause = (name: string, engine: { pause(): void; resume(): void }): Fault => ({
    name: `pause ${name}`,
    ...rest,
    async run() {
      engine.pause();
      await delay(pauseMs);
      engine.resume();
    },
  });
  return [
    crash('Redis', redis),
    pause('Redis', redis),
    crash('Kafka', kafka),
    pause('Kafka', kafka),
    // Its supervisor starts it again.
    { name: 'kill -9 PostgreSQL', ...rest, run: async () => void process.kill(postgres.pid, 'SIGKILL') },
    {
      name: 'pause PostgreSQL',
      ...rest,
      async run() {
        const thaw = freezeProcesses(postgres.pid);
        await delay(pauseMs);
        thaw();
      },
    },
  ];
}

/** A wire to one replica of a service that has another. */
function isOneOfTwo(cluster: Cluster, wire: string): boolean {
  const called = wire.split(' → ')[1]?.replace(/-\d+$/, '');
  return cluster.replicas.filter(({ service }) => service === called).length > 1;
}
