import { setTimeout as delay } from 'node:timers/promises';
import {
  commandRedis,
  startLocalRedis,
  startRedisCluster,
  startRedisSentinel,
  startTcpRelay,
  untilRedis,
  type RedisServer,
} from '@gateway/dev-infra';
import { failover, type Scenario } from './scenario';

/** How long a killed or silent primary stays away; longer than a failover. */
const OUTAGE_MS = 8_000;
const HOST = '127.0.0.1';
const MOVED_SLOTS = 30;

async function killForAWhile(server: RedisServer): Promise<void> {
  await server.kill();
  await delay(OUTAGE_MS);
  await server.start();
}

const redisSentinel: Scenario = {
  name: 'redis-sentinel',
  async run(lab) {
    const group = await startRedisSentinel({ replicas: 2 });
    try {
      return await lab.runUnderLoad({ redisUrl: group.url }, [
        failover('SENTINEL FAILOVER', () => group.failOver()),
        failover('kill -9 of the primary under Sentinel', async () => killForAWhile(await group.primary())),
      ]);
    } finally {
      await group.stop();
    }
  },
};

const redisCluster: Scenario = {
  name: 'redis-cluster',
  async run(lab) {
    const cluster = await startRedisCluster();
    const slots = [0, 6_000, 16_000];
    try {
      return await lab.runUnderLoad({ redisUrl: cluster.url }, [
        failover('CLUSTER FAILOVER of every primary', async () => {
          for (const slot of slots) await cluster.failOver(slot);
        }),
        failover(`migration of ${MOVED_SLOTS} slots`, async () => {
          for (let slot = 0; slot < MOVED_SLOTS; slot += 1)
            await (await cluster.startMigration(slot)).finish();
        }),
        failover('kill -9 of a primary of the Cluster', async () =>
          killForAWhile(await cluster.primaryOf(16_000)),
        ),
      ]);
    } finally {
      await cluster.stop();
    }
  },
};

const redisDemotedPrimary: Scenario = {
  name: 'redis-demoted-primary',
  async run(lab) {
    const servers = [await startLocalRedis(), await startLocalRedis()] as const;
    let [primary, replica]: readonly [RedisServer, RedisServer] = servers;
    const endpoint = await startTcpRelay({ upstreams: () => [{ host: HOST, port: primary.port }] });
    const follow = async (): Promise<void> => {
      await commandRedis(replica.port, 'REPLICAOF', HOST, String(primary.port));
      await untilRedis('replication', async () =>
        (await commandRedis(replica.port, 'INFO', 'replication')).includes('master_link_status:up'),
      );
    };
    try {
      await follow();
      return await lab.runUnderLoad({ redisUrl: `redis://${HOST}:${endpoint.port}` }, [
        failover('switchover behind one endpoint', async () => {
          await commandRedis(primary.port, 'FAILOVER', 'TO', HOST, String(replica.port));
          await untilRedis('the switchover', async () =>
            (await commandRedis(replica.port, 'ROLE')).startsWith('master'),
          );
          [primary, replica] = [replica, primary];
        }),
        failover('silent primary behind one endpoint', async () => {
          await primary.pause();
          await commandRedis(replica.port, 'REPLICAOF', 'NO', 'ONE');
          [primary, replica] = [replica, primary];
          await delay(OUTAGE_MS);
          await replica.resume();
          await follow();
        }),
      ]);
    } finally {
      await endpoint.stop();
      await Promise.all(servers.map((server) => server.stop()));
    }
  },
};

export const REDIS_SCENARIOS: readonly Scenario[] = [redisSentinel, redisCluster, redisDemotedPrimary];
