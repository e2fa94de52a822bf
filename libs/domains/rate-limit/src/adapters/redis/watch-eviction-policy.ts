import type { Logger, Registry } from '@gateway/runtime';
import { Redis } from 'ioredis';
import { Gauge } from 'prom-client';
import type { RedisConnection } from './connect-redis';

export interface WatchEvictionPolicyPorts {
  readonly redis: RedisConnection;
  readonly metrics: Registry;
  readonly log: Pick<Logger, 'warn'>;
}

const REQUIRED = 'noeviction';
const UNKNOWN = 'unknown';

/**
 * Reads the eviction policy of every server whenever the connection is
 * established, which includes failovers by Sentinel. Any policy but `noeviction`
 * lets Redis delete counts and slots when its memory is full.
 */
export function watchEvictionPolicy({ redis, metrics, log }: WatchEvictionPolicyPorts): void {
  const gauge = new Gauge({
    name: 'gateway_rate_limit_redis_servers',
    help: 'Redis servers by their maxmemory-policy when last connected; unknown if they do not permit reading it.',
    labelNames: ['maxmemory_policy'] as const,
    registers: [metrics],
  });
  const check = async (): Promise<void> => {
    const policies = await Promise.all(serversOf(redis).map(readPolicy));
    gauge.reset();
    for (const policy of policies) gauge.inc({ maxmemory_policy: policy });
    const wrong = policies.filter((policy) => policy !== REQUIRED && policy !== UNKNOWN);
    if (wrong.length > 0)
      log.warn({ policies }, `Redis may evict counts: maxmemory-policy is not ${REQUIRED}`);
    else if (policies.includes(UNKNOWN))
      log.warn({ policies }, `Redis does not permit reading maxmemory-policy, which must be ${REQUIRED}`);
  };
  redis.on('ready', () => void check());
  if (redis.status === 'ready') void check();
}

function serversOf(redis: RedisConnection): readonly Redis[] {
  return redis instanceof Redis ? [redis] : redis.nodes('all');
}

/** Managed services often forbid CONFIG, and access lists INFO. */
async function readPolicy(server: Redis): Promise<string> {
  const info = await server.info('memory').catch(() => '');
  const [, policy] = /^maxmemory_policy:(\S+)/m.exec(info) ?? [];
  if (policy !== undefined) return policy;
  const reply = await server.config('GET', 'maxmemory-policy').catch(() => undefined);
  const configured: unknown = Array.isArray(reply) ? reply[1] : undefined;
  return typeof configured === 'string' ? configured : UNKNOWN;
}
