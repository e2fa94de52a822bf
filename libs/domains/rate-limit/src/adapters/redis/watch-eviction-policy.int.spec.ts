import { describeWith, localRedis, redis, startRedis, startRedisCluster } from '@gateway/dev-infra';
import { createMetrics } from '@gateway/runtime';
import { eventually } from '@gateway/test-support';
import { connectRedis } from './connect-redis';
import { watchEvictionPolicy } from './watch-eviction-policy';

async function watch(url: string) {
  const metrics = createMetrics({ processMetrics: false });
  const warnings: string[] = [];
  const client = connectRedis({ url });
  watchEvictionPolicy({
    redis: client,
    metrics,
    log: { warn: (_: unknown, message?: string) => void warnings.push(String(message)) },
  });
  const text = await eventually('the metric', async () => {
    const rendered = await metrics.metrics();
    return rendered.includes('gateway_rate_limit_redis_servers{') ? rendered : undefined;
  });
  client.disconnect();
  return { text, warnings };
}

describeWith(redis, 'the eviction policy of Redis', () => {
  it('is reported without a warning when it is noeviction', async () => {
    const server = await startRedis();
    const { text, warnings } = await watch(server.url);
    expect(text).toContain('gateway_rate_limit_redis_servers{maxmemory_policy="noeviction"} 1');
    expect(warnings).toEqual([]);
    await server.stop();
  });

  it('is warned about when it may evict counts', async () => {
    const server = await startRedis({ settings: { 'maxmemory-policy': 'allkeys-lru' } });
    const { text, warnings } = await watch(server.url);
    expect(text).toContain('gateway_rate_limit_redis_servers{maxmemory_policy="allkeys-lru"} 1');
    expect(warnings).toEqual(['Redis may evict counts: maxmemory-policy is not noeviction']);
    await server.stop();
  });

  it('is reported as unknown to a user who may neither use INFO nor CONFIG', async () => {
    const server = await startRedis();
    await server.command(...'ACL SETUSER gateway on >secret ~* +@all -info -config'.split(' '));
    const { text, warnings } = await watch(server.url.replace('redis://', 'redis://gateway:secret@'));
    expect(text).toContain('gateway_rate_limit_redis_servers{maxmemory_policy="unknown"} 1');
    expect(warnings).toEqual(['Redis does not permit reading maxmemory-policy, which must be noeviction']);
    await server.stop();
  });
});

describeWith(localRedis, 'the eviction policy of a Redis Cluster', () => {
  it('is that of every primary', async () => {
    const cluster = await startRedisCluster();
    const { text } = await watch(cluster.url);
    // Replicas are listed once they have replicated something.
    expect(text).toMatch(/gateway_rate_limit_redis_servers\{maxmemory_policy="noeviction"\} [3-6]/);
    await cluster.stop();
  });
});
