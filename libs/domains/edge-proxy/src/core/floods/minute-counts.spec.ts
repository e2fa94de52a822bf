import type { UnixMs } from '@gateway/base';
import { MinuteCounts } from './minute-counts';

const MINUTE = 60_000;
const AT = Date.UTC(2026, 10, 20, 9, 0, 20) as UnixMs;
const after = (ms: number) => (AT + ms) as UnixMs;

it('counts each name by itself', () => {
  const counts = new MinuteCounts(10);
  for (let count = 0; count < 3; count += 1) counts.add('a', AT);
  counts.add('b', AT);
  expect([counts.hasReached('a', 3, AT), counts.hasReached('a', 4, AT)]).toEqual([true, false]);
  expect([counts.hasReached('b', 1, AT), counts.hasReached('b', 2, AT)]).toEqual([true, false]);
  expect(counts.hasReached('c', 1, AT)).toBe(false);
  expect([counts.mayHaveReached(3), counts.mayHaveReached(4)]).toEqual([true, false]);
});

it('the next minute begins with nothing, whether or not anything was counted in it', () => {
  const counts = new MinuteCounts(10);
  counts.add('a', AT);
  expect(counts.hasReached('a', 1, after(39_999))).toBe(true);
  expect(counts.hasReached('a', 1, after(40_000))).toBe(false);
  counts.add('b', after(40_000));
  expect(counts.size).toBe(1);
  expect(counts.hasReached('a', 1, after(40_000))).toBe(false);
});

it('a clock that was set back begins anew too', () => {
  const counts = new MinuteCounts(10);
  counts.add('a', AT);
  expect(counts.hasReached('a', 1, after(-MINUTE))).toBe(false);
});

it('never holds more names than it may', () => {
  const counts = new MinuteCounts(100);
  for (let name = 0; name < 10_000; name += 1) counts.add(String(name), AT);
  expect(counts.size).toBe(100);
  expect(counts.hasReached('9999', 1, AT)).toBe(true);
});

it('ever new names push out each other, not those that have come far', () => {
  const counts = new MinuteCounts(100);
  for (const flooding of ['a', 'b', 'c']) {
    for (let count = 0; count < 50; count += 1) counts.add(flooding, AT);
  }
  for (let name = 0; name < 10_000; name += 1) counts.add(String(name), AT);
  for (const flooding of ['a', 'b', 'c']) expect(counts.hasReached(flooding, 50, AT)).toBe(true);
});

it.each([1, 2, 9])('holds no more with room for %i names, minute after minute', (maxNames) => {
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

it('of equal counts the oldest is forgotten', () => {
  const counts = new MinuteCounts(3);
  for (const name of ['a', 'b', 'c', 'd']) counts.add(name, AT);
  expect(['a', 'b', 'c', 'd'].map((name) => counts.hasReached(name, 1, AT))).toEqual([
    false,
    true,
    true,
    true,
  ]);
});
