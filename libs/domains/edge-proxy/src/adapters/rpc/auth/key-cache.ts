import type { KeyGrant, WatchInvalidationsResponse } from '@gateway/contracts/auth';
import { LRUCache } from 'lru-cache';

/** The grant of a key; undefined when the key does not exist. */
export type KeyLookupResult = KeyGrant | undefined;

/** A lookup in flight. */
export interface PendingLookup {
  readonly hash: string;
  readonly result: Promise<KeyLookupResult>;
}

/** A cached "no such key", where undefined means "not cached". */
export const NO_SUCH_KEY = Symbol('no such key');

export interface KeyCacheLimits {
  readonly maxCachedKeys: number;
  readonly maxUnknownKeys: number;
}

/**
 * The edge's cache of keys and its lookups in flight. Evicting a key also drops
 * its lookup in flight: that result may be older than the change, so it is
 * neither cached nor shared with later callers.
 *
 * Unknown keys are cached too, separately, so that invented keys cannot evict
 * grants. Creating a key needs no invalidation: its 256 random bits cannot have
 * been looked up before.
 */
export class KeyCache {
  private readonly grants: LRUCache<string, KeyGrant>;
  private readonly unknown: LRUCache<string, true>;
  private readonly pending = new Map<string, PendingLookup>();

  constructor({ maxCachedKeys, maxUnknownKeys }: KeyCacheLimits) {
    this.grants = new LRUCache(growingTo(maxCachedKeys));
    this.unknown = new LRUCache(growingTo(maxUnknownKeys));
  }

  get size(): number {
    return this.grants.size;
  }

  get(hash: string): KeyGrant | typeof NO_SUCH_KEY | undefined {
    return this.grants.get(hash) ?? (this.unknown.get(hash) ? NO_SUCH_KEY : undefined);
  }

  pendingLookup(hash: string): PendingLookup | undefined {
    return this.pending.get(hash);
  }

  /** Lets other callers share the lookup until it finishes or its key is evicted. */
  addPending(pending: PendingLookup): void {
    this.pending.set(pending.hash, pending);
  }

  /** @returns whether the result may be cached: its key was not evicted since the lookup started. */
  finishPending(pending: PendingLookup): boolean {
    if (this.pending.get(pending.hash) !== pending) return false;
    this.pending.delete(pending.hash);
    return true;
  }

  store(hash: string, result: KeyLookupResult): void {
    if (result) this.grants.set(hash, result);
    else this.unknown.set(hash, true);
  }

  evict(target: WatchInvalidationsResponse['target']): void {
    switch (target?.$case) {
      case 'keySha256':
        this.evictKey(hashText(target.value));
        return;
      case 'organizationId':
        this.evictOrganization(target.value);
        return;
      case 'all':
      case undefined:
        // A target that only a later version knows evicts everything.
        this.clear();
    }
  }

  clear(): void {
    this.grants.clear();
    this.unknown.clear();
    this.pending.clear();
  }

  private evictKey(hash: string): void {
    this.grants.delete(hash);
    this.unknown.delete(hash);
    this.pending.delete(hash);
  }

  private evictOrganization(organizationId: string): void {
    // Linear in the number of cached keys; organizations change rarely.
    for (const [hash, grant] of this.grants.entries()) {
      if (grant.organizationId === organizationId) this.grants.delete(hash);
    }
    // The organization of a pending lookup is unknown until it finishes.
    this.pending.clear();
  }
}

/**
 * Bounds a cache without preallocation: with `max`, an empty cache for 100,000
 * entries uses 3.8 MiB.
 */
function growingTo(maxEntries: number) {
  return { maxSize: maxEntries, sizeCalculation: () => 1 };
}

/** A hash as a map's key: one character per byte. */
export function hashText(sha256: Buffer): string {
  return sha256.toString('latin1');
}
