import type { UnixMs } from '@gateway/base';
import { MinuteCounts } from './minute-counts';

const MINUTE = 60_000;
const AT = Date.UTC(2026, 10, 20, 9, 0, 20) as UnixMs;
const after = (ms: number) => (AT + ms) as UnixMs;

it('counts each name separately', () => {
  const counts = new MinuteCounts(10);
  for (let count = 0; count < 3; count += 1) counts.add('a', AT);
  counts.add('b', AT);
  expect([counts.hasReached('a', 3, AT), counts.hasReached('a', 4, AT)]).toEqual([true, false]);
  expect([counts.hasReached('b', 1, AT), counts.hasReached('b', 2, AT)]).toEqual([true, false]);
  expect(counts.hasReached('c', 1, AT)).toBe(false);
  expect([counts.mayHaveReached(3), counts.mayHaveReached(4)]).toEqual([true, false]);
});

it('starts each minute at zero, also before its first count', () => {
  const counts = new MinuteCounts(10);
  counts.add('a', AT);
  expect(counts.hasReached('a', 1, after(39_999))).toBe(true);
  expect(counts.hasReached('a', 1, after(40_000))).toBe(false);
  counts.add('b', after(40_000));
  expect(counts.size).toBe(1);
  expect(counts.hasReached('a', 1, after(40_000))).toBe(false);
});

it('starts at zero when the clock is set back', () => {
  const counts = new MinuteCounts(10);
  counts.add('a', AT);
  expect(counts.hasReached('a', 1, after(-MINUTE))).toBe(false);
});

it('never stores more names than its maximum', () => {
  const counts = new MinuteCounts(100);
  for (let name = 0; name < 10_000; name += 1) counts.add(String(name), AT);
  expect(counts.size).toBe(100);
  expect(counts.hasReached('9999', 1, AT)).toBe(true);
});

it('evicts new names, not those with high counts', () => {
  const counts = new MinuteCounts(100);
  for (const busy of ['a', 'b', 'c']) {
    for (let count = 0; count < 50; count += 1) counts.add(busy, AT);
  }
  for (let name = 0; name < 10_000; name += 1) counts.add(String(name), AT);
  for (const busy of ['a', 'b', 'c']) expect(counts.hasReached(busy, 50, AT)).toBe(true);
});

it.each([1, 2, 9])('stores at most %i names, minute after minute', (maxNames) => {
  const counts = new MinuteCounts(maxNames);
  for (const at of [AT, after(60_000)]) {
    for (let name = 0; name < 100; name += 1) {
      counts.add(String(name), at);
      counts.add(String(name), at);
      expect(counts.hasReached(String(name), 2, at)).toBe(true);
      expect(counts.size).toBe(Math.min(name + 1, maxNames));
    }
  }
});

it('evicts the oldest of equal counts', () => {
  const counts = new MinuteCounts(3);
  for (const name of ['a', 'b', 'c', 'd']) counts.add(name, AT);
  expect(['a', 'b', 'c', 'd'].map((name) => counts.hasReached(name, 1, AT))).toEqual([
    false,
    true,
    true,
    true,
  ]);
});
