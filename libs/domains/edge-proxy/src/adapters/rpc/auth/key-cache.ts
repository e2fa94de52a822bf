import type { KeyGrant, WatchInvalidationsResponse } from '@gateway/contracts/auth';
import { LRUCache } from 'lru-cache';

/** What auth said of a key: its grant, or that there is no such key. */
export type KeyAnswer = KeyGrant | undefined;

/** An answer that is on its way. */
export interface PendingAnswer {
  readonly hash: string;
  readonly answer: Promise<KeyAnswer>;
}

/** Stands for "no such key" where undefined means "not remembered". */
export const NO_SUCH_KEY = Symbol('no such key');

export interface KeyCacheLimits {
  readonly maxCachedKeys: number;
  readonly maxUnknownKeys: number;
}

/**
 * What an edge remembers of keys, and which questions are under way. To forget
 * a key is also to give up on the answer that is under way: it may be from
 * before, so it is neither kept nor shared with anybody who asks from now on.
 *
 * That a key does not exist is remembered too, apart from the grants so that
 * made-up keys cannot push those out. No key needs to be "un-forgotten" when it
 * is created: its 256 random bits are known to nobody before, so nobody can
 * have asked for it.
 */
export class KeyCache {
  private readonly grants: LRUCache<string, KeyGrant>;
  private readonly unknown: LRUCache<string, true>;
  private readonly pending = new Map<string, PendingAnswer>();

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

  pendingAnswer(hash: string): PendingAnswer | undefined {
    return this.pending.get(hash);
  }

  /** Lets others share the answer, until it is there or the key is forgotten. */
  expect(pending: PendingAnswer): void {
    this.pending.set(pending.hash, pending);
  }

  /** Whether nothing that concerns it was forgotten since it was asked for; no longer under way in any case. */
  settle(pending: PendingAnswer): boolean {
    if (this.pending.get(pending.hash) !== pending) return false;
    this.pending.delete(pending.hash);
    return true;
  }

  keep(hash: string, answer: KeyAnswer): void {
    if (answer) this.grants.set(hash, answer);
    else this.unknown.set(hash, true);
  }

  forget(target: WatchInvalidationsResponse['target']): void {
    switch (target?.$case) {
      case 'keySha256':
        this.forgetKey(hashText(target.value));
        return;
      case 'organizationId':
        this.forgetOrganization(target.value);
        return;
      case 'all':
      case undefined:
        // Also for a target of a later version, which this one cannot read.
        this.forgetAll();
    }
  }

  forgetAll(): void {
    this.grants.clear();
    this.unknown.clear();
    this.pending.clear();
  }

  private forgetKey(hash: string): void {
    this.grants.delete(hash);
    this.unknown.delete(hash);
    this.pending.delete(hash);
  }

  private forgetOrganization(organizationId: string): void {
    // Takes time with the number of keys: an organization's settings change seldom.
    for (const [hash, grant] of this.grants.entries()) {
      if (grant.organizationId === organizationId) this.grants.delete(hash);
    }
    // Whose keys those are is not known before the answers are there.
    this.pending.clear();
  }
}

/**
 * Bounds a cache by number without setting the room aside: with `max` an empty
 * cache for 100,000 entries already takes 3.8 MiB.
 */
function growingTo(maxEntries: number) {
  return { maxSize: maxEntries, sizeCalculation: () => 1 };
}

/** A hash as a map's key: one character per byte. */
export function hashText(sha256: Buffer): string {
  return sha256.toString('latin1');
}
