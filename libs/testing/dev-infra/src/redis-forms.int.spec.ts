import { describeWith } from './describe-with';
import { localRedis } from './redis-process';
import { commandRedis } from './redis-cli';
import { startRedisCluster } from './redis-cluster';
import { startRedisSentinel } from './redis-sentinel';

describeWith(localRedis, 'Redis with failover', () => {
  it('starts a Sentinel group, whose failover promotes the replica', async () => {
    const group = await startRedisSentinel();
    try {
      const before = await group.primary();
      await group.failOver();
      const after = await group.primary();
      expect(after.port).not.toBe(before.port);
      expect(await commandRedis(after.port, 'SET', 'key', 'value')).toBe('OK');
    } finally {
      await group.stop();
    }
  });

  it('starts a Cluster, fails a primary over, and moves a slot with its keys', async () => {
    const cluster = await startRedisCluster();
    try {
      const slot = await cluster.slotOf('key');
      const before = await cluster.primaryOf(slot);
      await cluster.failOver(slot);
      const after = await cluster.primaryOf(slot);
      expect(after.port).not.toBe(before.port);
      await commandRedis(after.port, 'SET', 'key', 'value');
      const migration = await cluster.startMigration(slot);
      expect(await migration.moveKeys()).toBe(1);
      await migration.finish();
      expect(await commandRedis(migration.to.port, 'GET', 'key')).toBe('value');
    } finally {
      await cluster.stop();
    }
  });
});
