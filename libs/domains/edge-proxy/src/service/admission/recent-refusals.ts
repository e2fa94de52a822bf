import { MINUTE_MS } from '@gateway/base';
import type { KeyGrant } from '@gateway/contracts/auth';
import { LRUCache } from 'lru-cache';
import { limits } from '../../core';

type Owner = Pick<KeyGrant, 'keyId' | 'organizationId'>;

/**
 * The keys and organizations whose limits have refused a request within the last minute at this edge, and the
 * organizations whose limits could not be checked.
 */
export interface RecentRefusals {
  add(owner: Owner, scope: 'key' | 'organization'): void;
  include(owner: Owner): boolean;
}

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
