import type { KeyGrant } from '@gateway/contracts/auth';
import { hashText, KeyCache, NO_SUCH_KEY } from './key-cache';

const sha256 = (name: string) => Buffer.from(name.padEnd(32, '.'));
const hash = (name: string) => hashText(sha256(name));
const grantOf = (organizationId: string) => ({ organizationId }) as KeyGrant;

function cacheOf(...names: readonly string[]): KeyCache {
  const cache = new KeyCache({ maxCachedKeys: 3, maxUnknownKeys: 2 });
  for (const name of names) cache.keep(hash(name), grantOf('org-1'));
  return cache;
}

it('holds no more grants than its bound, and keeps those that are read', () => {
  const cache = cacheOf('popular');
  for (let index = 0; index < 50; index += 1) {
    expect(cache.get(hash('popular'))).toEqual(grantOf('org-1'));
    cache.keep(hash(`once-${index}`), grantOf('org-1'));
    expect(cache.size).toBeLessThanOrEqual(3);
  }
  expect(cache.get(hash('popular'))).toEqual(grantOf('org-1'));
  expect(cache.get(hash('once-0'))).toBeUndefined();
});

it('does not let made-up keys push out real ones', () => {
  const cache = cacheOf('real');
  for (let index = 0; index < 50; index += 1) cache.keep(hash(`made-up-${index}`), undefined);
  expect(cache.get(hash('made-up-49'))).toBe(NO_SUCH_KEY);
  expect(cache.get(hash('made-up-0'))).toBeUndefined();
  expect(cache.get(hash('real'))).toEqual(grantOf('org-1'));
});

it('forgets one key, the keys of one organization, or all', () => {
  const cache = cacheOf('a', 'b');
  cache.keep(hash('c'), grantOf('org-2'));
  cache.forget({ $case: 'keySha256', value: sha256('a') });
  expect([cache.get(hash('a')), cache.size]).toEqual([undefined, 2]);
  cache.forget({ $case: 'organizationId', value: 'org-1' });
  expect([cache.get(hash('b')), cache.get(hash('c'))]).toEqual([undefined, grantOf('org-2')]);
  cache.keep(hash('d'), undefined);
  cache.forget(undefined);
  expect([cache.size, cache.get(hash('d'))]).toEqual([0, undefined]);
});

it('neither keeps nor shares an answer that was under way when its key was forgotten', () => {
  const cache = cacheOf();
  const pending = { hash: hash('a'), answer: Promise.resolve(grantOf('org-1')) };
  cache.expect(pending);
  expect(cache.pendingAnswer(hash('a'))).toBe(pending);
  cache.forget({ $case: 'keySha256', value: sha256('a') });
  expect([cache.pendingAnswer(hash('a')), cache.settle(pending)]).toEqual([undefined, false]);
});
