import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFreePort } from '@gateway/database';
import { findProgram } from './find-program';
import type { RedisServer } from './redis-server';
import { startLocalRedis } from './redis-process';
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
}

const MASTER_NAME = 'gateway';
const SENTINELS = 3;
const QUORUM = 2;
const DOWN_AFTER_MS = 1_000;
/** Sentinels try again after twice this time, when none of them got enough votes. */
const FAILOVER_TIMEOUT_MS = 3_000;

export async function startRedisSentinel({
  replicas = 1,
  settings = {},
}: RedisSentinelOptions = {}): Promise<RedisSentinelGroup> {
  const stops: (() => Promise<void>)[] = [];
  const stop = async (): Promise<void> => {
    for (let next = stops.pop(); next; next = stops.pop()) await next();
  };
  try {
    const first = await startLocalRedis({ settings });
    stops.push(() => first.stop());
    const servers = [first];
    for (let count = 0; count < replicas; count += 1) {
      const replica = await startLocalRedis({
        settings: { ...settings, replicaof: `127.0.0.1 ${first.port}`, 'repl-diskless-sync-delay': '0' },
      });
      stops.push(() => replica.stop());
      servers.push(replica);
    }
    await untilRedis('replication', async () =>
      (await commandRedis(first.port, 'INFO', 'replication')).includes(`connected_slaves:${replicas}`),
    );
    const sentinelPorts: number[] = [];
    for (let count = 0; count < SENTINELS; count += 1) {
      const sentinel = await startSentinel(first.port);
      stops.push(sentinel.stop);
      sentinelPorts.push(sentinel.port);
    }
    const reported = async (port: number): Promise<number> =>
      Number(
        (await commandRedis(port, 'SENTINEL', 'GET-MASTER-ADDR-BY-NAME', MASTER_NAME)).split('\n')[1]?.trim(),
      );
    const [sentinelPort = 0] = sentinelPorts;
    const primary = async (): Promise<RedisServer> => {
      const port = await reported(sentinelPort);
      const found = servers.find((server) => server.port === port);
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
      url: `redis+sentinel://${sentinelPorts.map((port) => `127.0.0.1:${port}`).join(',')}/${MASTER_NAME}`,
      masterName: MASTER_NAME,
      sentinelPorts,
      servers,
      primary,
      async failOver() {
        const before = await reported(sentinelPort);
        await commandRedis(sentinelPort, 'SENTINEL', 'FAILOVER', MASTER_NAME);
        await untilRedis('the failover', async () => {
          const now = await reported(sentinelPort);
          return now !== before && (await commandRedis(now, 'ROLE')).startsWith('master');
        });
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startSentinel(primaryPort: number): Promise<{ port: number; stop: () => Promise<void> }> {
  const directory = await mkdtemp(join(tmpdir(), 'gateway-sentinel-'));
  const port = await findFreePort();
  const file = join(directory, 'sentinel.conf');
  await writeFile(
    file,
    [
      'bind 127.0.0.1',
      `port ${port}`,
      `dir ${directory}`,
      `sentinel monitor ${MASTER_NAME} 127.0.0.1 ${primaryPort} ${QUORUM}`,
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
    stop: async () => {
      await sentinel.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
