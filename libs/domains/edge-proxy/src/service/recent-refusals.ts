import { MINUTE_MS } from '@gateway/base';
import { LRUCache } from 'lru-cache';
import { limits, type RecentRefusals } from '../core';

export function createRecentRefusals(now: () => number): RecentRefusals {
  const owners = new LRUCache<string, true>({
    max: limits.recentRefusals.maxOwners,
    // Windows of limits are minutes.
    ttl: MINUTE_MS,
    perf: { now },
  });
  return {
    add: ({ keyId, organizationId }, scope) => {
      owners.set(scope === 'key' ? keyId : organizationId, true);
    },
    include: ({ keyId, organizationId }) => owners.has(keyId) || owners.has(organizationId),
  };
}
