import type { UnixMs } from '@gateway/base';
import type { RedisConnection } from './connect-redis';
import { limitsKey } from './redis-limit-store';
import { leaseScore, MAX_LEASE_SCORE } from './scripts';

/** The slots of an organization whose leases have not expired at this time. For tools that look for leaks. */
export function countSlots(redis: RedisConnection, organizationId: string, now: UnixMs): Promise<number> {
  return redis.zcount(limitsKey(organizationId), leaseScore(now), MAX_LEASE_SCORE);
}
