import { once } from 'node:events';
import { Redis } from 'ioredis';
import type { RedisServer, RedisServerOptions } from '../redis-server';

/** What every way to start a Redis server does. */
export function describeRedisServerSuite(
  start: (options?: RedisServerOptions) => Promise<RedisServer>,
): void {
  let server: RedisServer;
  let client: Redis;

  beforeAll(async () => {
    server = await start({ settings: { 'maxmemory-policy': 'allkeys-lru' } });
    client = new Redis(server.url);
    client.on('error', () => undefined);
  });
  afterAll(async () => {
    client?.disconnect();
    await server?.stop();
  });

  it('has the requested settings, and returns what redis-cli prints', async () => {
    expect(await server.command('CONFIG', 'GET', 'maxmemory-policy')).toBe('maxmemory-policy\nallkeys-lru');
    await expect(server.command('NO-SUCH-COMMAND')).rejects.toThrow(/unknown command/);
  });

  it('responds to nothing while it is paused, and to everything afterwards', async () => {
    await client.set('paused', '1');
    await server.pause();
    let isDone = false;
    const read = client.get('paused').finally(() => (isDone = true));
    // A request to a server that runs takes less than a millisecond.
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(isDone).toBe(false);
    await server.resume();
    expect(await read).toBe('1');
  });

  it('is empty on the same port after a kill', async () => {
    await client.set('killed', '1');
    const closed = once(client, 'close');
    await server.kill();
    await closed;
    await server.start();
    expect(await client.get('killed')).toBeNull();
  });
}
