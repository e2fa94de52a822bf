import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFreePort } from '@gateway/database';
import { findProgram } from './find-program';
import type { RedisServer } from './redis-server';
import { startLocalRedis, tlsSettings, type RedisTls } from './redis-process';
import { commandRedis, untilRedis } from './redis-cli';
import { startTethered } from './tethered-process';

/** A primary with replicas, supervised by three Sentinels. */
export interface RedisSentinelGroup {
  /** `redis+sentinel://` with all Sentinels. */
  readonly url: string;
  readonly masterName: string;
  readonly sentinelPorts: readonly number[];
  readonly servers: readonly RedisServer[];
  /** The current primary, as the first Sentinel reports it. */
  primary(): Promise<RedisServer>;
  /** Orders a failover. Resolves when another server is the primary and accepts writes. */
  failOver(): Promise<void>;
  stop(): Promise<void>;
}

export interface RedisSentinelOptions {
  readonly replicas?: number;
  /** As in redis.conf, for every data server. */
  readonly settings?: Readonly<Record<string, string>>;
  /** All of them use TLS among themselves, and `url` is `rediss+sentinel://`. Their name is localhost. */
  readonly tls?: RedisTls;
}

const MASTER_NAME = 'gateway';
const SENTINELS = 3;
const QUORUM = 2;
const DOWN_AFTER_MS = 1_000;
/** Sentinels try again after twice this time, when none of them got enough votes. */
const FAILOVER_TIMEOUT_MS = 3_000;
const TLS_AMONG_SERVERS = { 'tls-replication': 'yes', 'replica-announce-ip': 'localhost' };

export async function startRedisSentinel({
  replicas = 1,
  settings = {},
  tls,
}: RedisSentinelOptions = {}): Promise<RedisSentinelGroup> {
  const stops: (() => Promise<void>)[] = [];
  const stop = async (): Promise<void> => {
    for (let next = stops.pop(); next; next = stops.pop()) await next();
  };
  try {
    const host = tls ? 'localhost' : '127.0.0.1';
    /** By the port that Sentinel reports, which is that of TLS if there is one. */
    const byPort = new Map<number, RedisServer>();
    const startServer = async (more: Readonly<Record<string, string>>) => {
      const tlsPort = tls && (await findFreePort());
      const server = await startLocalRedis({
        settings: {
          ...settings,
          'repl-diskless-sync-delay': '0',
          ...(tls && tlsPort !== undefined && { ...tlsSettings(tls, tlsPort), ...TLS_AMONG_SERVERS }),
          ...more,
        },
      });
      stops.push(() => server.stop());
      byPort.set(tlsPort ?? server.port, server);
      return { server, port: tlsPort ?? server.port };
    };
    const { server: first, port: firstPort } = await startServer({});
    for (let count = 0; count < replicas; count += 1)
      await startServer({ replicaof: `${host} ${firstPort}` });
    await untilRedis('replication', async () =>
      (await commandRedis(first.port, 'INFO', 'replication')).includes(`connected_slaves:${replicas}`),
    );
    const sentinels: Sentinel[] = [];
    for (let count = 0; count < SENTINELS; count += 1) {
      const sentinel = await startSentinel(`${host} ${firstPort}`, tls);
      stops.push(sentinel.stop);
      sentinels.push(sentinel);
    }
    const sentinelPorts = sentinels.map(({ port }) => port);
    const reported = async (port: number): Promise<number> =>
      Number(
        (await commandRedis(port, 'SENTINEL', 'GET-MASTER-ADDR-BY-NAME', MASTER_NAME)).split('\n')[1]?.trim(),
      );
    const [sentinelPort = 0] = sentinelPorts;
    const primary = async (): Promise<RedisServer> => {
      const port = await reported(sentinelPort);
      const found = byPort.get(port);
      if (found === undefined) throw new Error(`Sentinel reports an unknown primary on port ${port}`);
      return found;
    };
    for (const port of sentinelPorts) {
      await untilRedis('discovery of the Sentinels and replicas', async () => {
        const state = await commandRedis(port, 'SENTINEL', 'MASTER', MASTER_NAME);
        const lines = state.split('\n');
        const value = (name: string) => lines[lines.indexOf(name) + 1];
        return (
          value('num-other-sentinels') === String(SENTINELS - 1) && value('num-slaves') === String(replicas)
        );
      });
    }
    return {
      url: tls
        ? `rediss+sentinel://${sentinels.map(({ tlsPort }) => `localhost:${tlsPort}`).join(',')}/${MASTER_NAME}`
        : `redis+sentinel://${sentinelPorts.map((port) => `127.0.0.1:${port}`).join(',')}/${MASTER_NAME}`,
      masterName: MASTER_NAME,
      sentinelPorts,
      servers: [...byPort.values()],
      primary,
      async failOver() {
        const before = await reported(sentinelPort);
        await commandRedis(sentinelPort, 'SENTINEL', 'FAILOVER', MASTER_NAME);
        await untilRedis('the failover', async () => {
          const now = await reported(sentinelPort);
          const role = await commandRedis((await primary()).port, 'ROLE');
          return now !== before && role.startsWith('master');
        });
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

interface Sentinel {
  readonly port: number;
  readonly tlsPort: number | undefined;
  readonly stop: () => Promise<void>;
}

async function startSentinel(primary: string, tls: RedisTls | undefined): Promise<Sentinel> {
  const directory = await mkdtemp(join(tmpdir(), 'gateway-sentinel-'));
  const port = await findFreePort();
  const tlsPort = tls && (await findFreePort());
  const file = join(directory, 'sentinel.conf');
  await writeFile(
    file,
    [
      'bind 127.0.0.1',
      `port ${port}`,
      `dir ${directory}`,
      ...(tls && tlsPort !== undefined ? sentinelTls(tls, tlsPort) : []),
      `sentinel monitor ${MASTER_NAME} ${primary} ${QUORUM}`,
      `sentinel down-after-milliseconds ${MASTER_NAME} ${DOWN_AFTER_MS}`,
      `sentinel failover-timeout ${MASTER_NAME} ${FAILOVER_TIMEOUT_MS}`,
      '',
    ].join('\n'),
  );
  const program = findProgram('redis-server') ?? 'redis-server';
  const sentinel = await startTethered({ command: program, args: [file, '--sentinel'] });
  await untilRedis('the start of a Sentinel', async () => (await commandRedis(port, 'PING')) === 'PONG');
  return {
    port,
    tlsPort,
    stop: async () => {
      await sentinel.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** Certificates name hosts, so Sentinel reports names. */
function sentinelTls(tls: RedisTls, tlsPort: number): string[] {
  const settings = Object.entries({ ...tlsSettings(tls, tlsPort), 'tls-replication': 'yes' });
  return [
    ...settings.map(([name, value]) => `${name} ${value}`),
    'sentinel resolve-hostnames yes',
    'sentinel announce-hostnames yes',
    'sentinel announce-ip localhost',
    `sentinel announce-port ${tlsPort}`,
  ];
}
