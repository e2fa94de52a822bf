import { findFreePort } from '@gateway/database';
import { containerHost, startContainer } from './container';
import type { RedisServer, RedisServerOptions } from './redis-server';
import { isRedisResponding } from './redis-process';
import { ENGINE_IMAGES } from './test-engines';

const PORT = 6379;

/** Starts a Redis server without persistence in a container. */
export async function startRedisContainer({
  port: requestedPort,
  settings = {},
}: RedisServerOptions = {}): Promise<RedisServer> {
  const [host, port] = [await containerHost(), requestedPort ?? (await findFreePort())];
  const all = { save: '', appendonly: 'no', ...settings };
  const { run, ...container } = await startContainer({
    image: ENGINE_IMAGES.redis,
    command: ['redis-server', ...Object.entries(all).flatMap(([name, value]) => [`--${name}`, value])],
    port: { container: PORT, host: port },
    isReady: () => isRedisResponding(host, port),
  });
  return {
    ...container,
    url: `redis://${host}:${port}`,
    port,
    command: (...args) => run(['redis-cli', '-e', ...args]),
  };
}
