import type { KeyGrant } from '@gateway/contracts/auth';
import { hashText, KeyCache, NO_SUCH_KEY } from './key-cache';

const sha256 = (name: string) => Buffer.from(name.padEnd(32, '.'));
const hash = (name: string) => hashText(sha256(name));
const grantOf = (organizationId: string) => ({ organizationId }) as KeyGrant;

function cacheOf(...names: readonly string[]): KeyCache {
  const cache = new KeyCache({ maxCachedKeys: 3, maxUnknownKeys: 2 });
  for (const name of names) cache.store(hash(name), grantOf('org-1'));
  return cache;
}

it('evicts the least recently used grants beyond its bound', () => {
  const cache = cacheOf('popular');
  for (let index = 0; index < 50; index += 1) {
    expect(cache.get(hash('popular'))).toEqual(grantOf('org-1'));
    cache.store(hash(`once-${index}`), grantOf('org-1'));
    expect(cache.size).toBeLessThanOrEqual(3);
  }
  expect(cache.get(hash('popular'))).toEqual(grantOf('org-1'));
  expect(cache.get(hash('once-0'))).toBeUndefined();
});

it('does not evict grants for unknown keys', () => {
  const cache = cacheOf('real');
  for (let index = 0; index < 50; index += 1) cache.store(hash(`unknown-${index}`), undefined);
  expect(cache.get(hash('unknown-49'))).toBe(NO_SUCH_KEY);
  expect(cache.get(hash('unknown-0'))).toBeUndefined();
  expect(cache.get(hash('real'))).toEqual(grantOf('org-1'));
});

it('evicts one key, the keys of one organization, or all', () => {
  const cache = cacheOf('a', 'b');
  cache.store(hash('c'), grantOf('org-2'));
  cache.evict({ $case: 'keySha256', value: sha256('a') });
  expect([cache.get(hash('a')), cache.size]).toEqual([undefined, 2]);
  cache.evict({ $case: 'organizationId', value: 'org-1' });
  expect([cache.get(hash('b')), cache.get(hash('c'))]).toEqual([undefined, grantOf('org-2')]);
  cache.store(hash('d'), undefined);
  cache.evict(undefined);
  expect([cache.size, cache.get(hash('d'))]).toEqual([0, undefined]);
});

it('neither stores nor shares a lookup whose key was evicted while it was in flight', () => {
  const cache = cacheOf();
  const pending = { hash: hash('a'), result: Promise.resolve(grantOf('org-1')) };
  cache.addPending(pending);
  expect(cache.pendingLookup(hash('a'))).toBe(pending);
  cache.evict({ $case: 'keySha256', value: sha256('a') });
  expect([cache.pendingLookup(hash('a')), cache.finishPending(pending)]).toEqual([undefined, false]);
});
