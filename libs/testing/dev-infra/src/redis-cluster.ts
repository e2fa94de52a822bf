import { findFreePort } from '@gateway/database';
import type { RedisServer } from './redis-server';
import { startLocalRedis, tlsSettings, type RedisTls } from './redis-process';
import { commandRedis, redisCli, untilRedis } from './redis-cli';

/** A Redis Cluster of three primaries with a replica each. */
export interface RedisCluster {
  /** `redis+cluster://` with all nodes. */
  readonly url: string;
  readonly servers: readonly RedisServer[];
  /** The hash slot of a key. */
  slotOf(key: string): Promise<number>;
  /** The primary of a slot, as the running nodes agree. */
  primaryOf(slot: number): Promise<RedisServer>;
  /** Promotes the replica of a slot's primary, without loss of data. */
  failOver(slot: number): Promise<void>;
  /** Starts to move a slot to another primary. */
  startMigration(slot: number): Promise<SlotMigration>;
  stop(): Promise<void>;
}

export interface SlotMigration {
  readonly from: RedisServer;
  readonly to: RedisServer;
  /** Moves all keys that are in the slot now. */
  moveKeys(): Promise<number>;
  /** Moves the remaining keys and assigns the slot. */
  finish(): Promise<void>;
}

export interface RedisClusterOptions {
  /** As in redis.conf, for every node. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Each node also listens with TLS, and `url` is `rediss+cluster://`. Their name is localhost. */
  readonly tls?: RedisTls;
}

const PRIMARIES = 3;
const NODE_TIMEOUT_MS = 1_500;
const MIGRATE_TIMEOUT_MS = 5_000;
const MAX_KEYS = 10_000;

interface SlotRange {
  readonly from: number;
  readonly to: number;
  readonly primaryPort: number;
  readonly replicaPorts: readonly number[];
}

export async function startRedisCluster({
  settings = {},
  tls,
}: RedisClusterOptions = {}): Promise<RedisCluster> {
  const servers: RedisServer[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(servers.splice(0).map((server) => server.stop()));
  };
  const at = (port: number): RedisServer => {
    const found = servers.find((server) => server.port === port);
    if (found === undefined) throw new Error(`no node of the cluster has port ${port}`);
    return found;
  };

  async function ranges(port: number): Promise<SlotRange[]> {
    const nodes = (await commandRedis(port, 'CLUSTER', 'NODES')).split('\n').map(parseNode);
    return nodes.flatMap(({ id, port: primaryPort, slots, isFailed }) =>
      isFailed
        ? []
        : slots.map(([from, to]) => ({
            from,
            to,
            primaryPort,
            replicaPorts: nodes
              .filter((each) => each.primaryId === id && !each.isFailed)
              .map((each) => each.port),
          })),
    );
  }

  /** @throws Error while the running nodes disagree */
  async function rangeOf(slot: number): Promise<SlotRange> {
    const views = await Promise.all(servers.map((server) => ranges(server.port).catch(() => undefined)));
    const found = views.flatMap((view) => view?.find(({ from, to }) => from <= slot && slot <= to) ?? []);
    const [first] = found;
    if (first === undefined || found.some(({ primaryPort }) => primaryPort !== first.primaryPort))
      throw new Error(`the nodes do not agree on the primary of slot ${slot}`);
    return first;
  }

  const idOf = (port: number) => commandRedis(port, 'CLUSTER', 'MYID');

  try {
    const tlsPorts: number[] = [];
    for (let count = 0; count < 2 * PRIMARIES; count += 1) {
      const tlsPort = tls && (await findFreePort());
      if (tlsPort !== undefined) tlsPorts.push(tlsPort);
      servers.push(
        await startLocalRedis({
          settings: {
            'cluster-enabled': 'yes',
            'cluster-port': String(await findFreePort()),
            'cluster-node-timeout': String(NODE_TIMEOUT_MS),
            'repl-diskless-sync-delay': '0',
            ...(tls &&
              tlsPort !== undefined && {
                ...tlsSettings(tls, tlsPort),
                'tls-cluster': 'yes',
                'tls-replication': 'yes',
                'cluster-announce-hostname': 'localhost',
                'cluster-preferred-endpoint-type': 'hostname',
              }),
            ...settings,
          },
        }),
      );
    }
    const addresses = servers.map(({ port }) => `127.0.0.1:${port}`);
    await redisCli(['--cluster', 'create', ...addresses, '--cluster-replicas', '1', '--cluster-yes']);
    for (const { port } of servers) {
      await untilRedis('the start of the cluster', async () => {
        const isOk = (await commandRedis(port, 'CLUSTER', 'INFO')).includes('cluster_state:ok');
        const all = await ranges(port);
        return isOk && all.length === PRIMARIES && all.every(({ replicaPorts }) => replicaPorts.length === 1);
      });
    }
    for (const { port } of servers) {
      await untilRedis('replication in the cluster', async () => {
        const state = await commandRedis(port, 'INFO', 'replication');
        return state.includes('role:master')
          ? state.includes('connected_slaves:1')
          : state.includes('master_link_status:up');
      });
    }
    return {
      url: tls
        ? `rediss+cluster://${tlsPorts.map((port) => `localhost:${port}`).join(',')}`
        : `redis+cluster://${addresses.join(',')}`,
      servers,
      slotOf: async (key) => Number(await commandRedis(servers[0]?.port ?? 0, 'CLUSTER', 'KEYSLOT', key)),
      primaryOf: async (slot) => at((await rangeOf(slot)).primaryPort),
      async failOver(slot) {
        const { replicaPorts, primaryPort } = await rangeOf(slot);
        const [replica] = replicaPorts;
        if (replica === undefined) throw new Error(`the primary of slot ${slot} has no replica`);
        await commandRedis(replica, 'CLUSTER', 'FAILOVER');
        await untilRedis('the failover', async () => {
          const { primaryPort: now } = await rangeOf(slot);
          return now !== primaryPort;
        });
      },
      async startMigration(slot) {
        const { primaryPort } = await rangeOf(slot);
        const target = (await ranges(primaryPort)).find((range) => range.primaryPort !== primaryPort);
        if (target === undefined) throw new Error('there is no other primary');
        const to = target.primaryPort;
        const [fromId, toId] = [await idOf(primaryPort), await idOf(to)];
        await commandRedis(to, 'CLUSTER', 'SETSLOT', String(slot), 'IMPORTING', fromId);
        await commandRedis(primaryPort, 'CLUSTER', 'SETSLOT', String(slot), 'MIGRATING', toId);
        const moveKeys = async (): Promise<number> => {
          const keys = (
            await commandRedis(primaryPort, 'CLUSTER', 'GETKEYSINSLOT', String(slot), String(MAX_KEYS))
          )
            .split('\n')
            .filter((key) => key !== '');
          for (const key of keys)
            await commandRedis(
              primaryPort,
              'MIGRATE',
              '127.0.0.1',
              String(to),
              key,
              '0',
              String(MIGRATE_TIMEOUT_MS),
            );
          return keys.length;
        };
        return {
          from: at(primaryPort),
          to: at(to),
          moveKeys,
          async finish() {
            await moveKeys();
            for (const port of [to, primaryPort])
              await commandRedis(port, 'CLUSTER', 'SETSLOT', String(slot), 'NODE', toId);
          },
        };
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** A line of `CLUSTER NODES`: id, address, flags, primary, ping, pong, epoch, link state, slots. */
function parseNode(line: string) {
  const [id = '', address = '', flags = '', primaryId = '', , , , , ...slots] = line.trim().split(' ');
  return {
    id,
    primaryId,
    port: Number(/:(\d+)@/.exec(address)?.[1]),
    isFailed: flags.split(',').includes('fail'),
    slots: slots
      .filter((range) => /^\d/.test(range))
      .map((range): [number, number] => {
        const [from = '', to = from] = range.split('-');
        return [Number(from), Number(to)];
      }),
  };
}
