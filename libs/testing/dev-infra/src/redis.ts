import type { TestServer } from './describe-with';
import { startRedisContainer } from './redis-container';
import { localRedis, startLocalRedis } from './redis-process';
import type { RedisServer, RedisServerOptions } from './redis-server';
import { engineMode, runsInDocker } from './test-engines';

/** Suites that configure, pause or kill their own server. */
export const redis: TestServer = {
  name: 'Redis',
  installHint: `Start Docker. Or: ${localRedis.installHint}`,
  isAvailable: () => runsInDocker('redis') || (engineMode() !== 'docker' && localRedis.isAvailable()),
};

const urlInEnvironment = (): string | undefined => process.env['TEST_REDIS_URL'] || undefined;

/** Suites that only need a URL. */
export const redisUrl: TestServer = {
  ...redis,
  installHint: `Set TEST_REDIS_URL. Or: ${redis.installHint}`,
  isAvailable: () => urlInEnvironment() !== undefined || redis.isAvailable(),
};

/** Starts a Redis server without persistence: in Docker where it responds, else of this machine. */
export function startRedis(options: RedisServerOptions = {}): Promise<RedisServer> {
  return runsInDocker('redis') ? startRedisContainer(options) : startLocalRedis(options);
}

/** The Redis of TEST_REDIS_URL, which may hold keys of others, else a new one. */
export async function provideRedis(): Promise<Pick<RedisServer, 'url' | 'stop'>> {
  const url = urlInEnvironment();
  return url === undefined ? startRedis() : { url, stop: async () => undefined };
}
