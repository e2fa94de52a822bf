import { EventEmitter } from 'node:events';
import { createSilentLogger } from '@gateway/runtime';
import type { Pool } from 'pg';
import { createPostgresInvalidationFeed } from './invalidation-feed';

/** The parts of a connection that the feed uses. */
class StubClient extends EventEmitter {
  readonly released: boolean[] = [];

  query(): Promise<{ rows: never[] }> {
    return Promise.resolve({ rows: [] });
  }

  release(destroy = false): void {
    this.released.push(destroy);
  }
}

describe('the invalidation feed', () => {
  it('releases a connection that opens while it stops, so that the pool can end', async () => {
    const [first, second] = [new StubClient(), new StubClient()];
    let connectSecond: () => void = () => undefined;
    let onReconnect: () => void = () => undefined;
    const reconnecting = new Promise<void>((resolve) => (onReconnect = resolve));
    const connections = [
      () => Promise.resolve(first),
      () => {
        onReconnect();
        return new Promise<StubClient>((resolve) => (connectSecond = () => resolve(second)));
      },
    ];
    const pool = {
      query: () => Promise.resolve({ rows: [] }),
      connect: () => connections.shift()?.(),
    } as unknown as Pool;
    const feed = createPostgresInvalidationFeed({ pool, sessions: pool, log: createSilentLogger() });
    await feed.start();
    first.emit('end');
    await reconnecting;
    await feed.stop();
    connectSecond();
    await new Promise((resolve) => setImmediate(resolve));
    expect(first.released).toEqual([true]);
    expect(second.released).toEqual([true]);
  });
});
