import { createIdSource, newId, newRequestId, smallestIdAt } from './ids';

function fixedSource(times: number[], fill = 0) {
  return createIdSource({ now: () => times.shift() ?? 0, fillRandom: (bytes) => bytes.fill(fill) });
}

describe('ids', () => {
  it('are a prefix and a ULID of 26 Crockford characters', () => {
    expect(newId('gen')).toMatch(/^gen-[0-7][0-9A-HJKMNP-TV-Z]{25}$/);
    expect(newRequestId()).toMatch(/^req_[0-7][0-9A-HJKMNP-TV-Z]{25}$/);
  });

  it('have the time in their first ten characters', () => {
    // 2^48 - 1 is the last time that fits, 1 the first after the epoch.
    expect(fixedSource([281_474_976_710_655])('x').slice(2, 12)).toBe('7ZZZZZZZZZ');
    expect(fixedSource([1])('x').slice(2, 12)).toBe('0000000001');
    expect(fixedSource([1_469_918_176_385])('x').slice(2, 12)).toBe('01ARYZ6S41');
  });

  it('have 80 random bits and use all of them', () => {
    expect(fixedSource([1], 255)('x').slice(12)).toBe('Z'.repeat(16));
    expect(fixedSource([1], 0)('x').slice(12)).toBe('0'.repeat(16));
    const bytes = [0x00, 0x44, 0x32, 0x14, 0xc7, 0x42, 0x54, 0xb6, 0x35, 0xcf];
    const counting = createIdSource({ now: () => 1, fillRandom: (pool) => pool.set(bytes) });
    expect(counting('x').slice(12)).toBe('0123456789ABCDEF');
  });

  it('never sort before an earlier id when the clock steps back', () => {
    const next = fixedSource([5_000, 3_000, 5_001]);
    const [first, second, third] = [next('x'), next('x'), next('x')].map((id) => id.slice(2, 12));
    expect(second).toBe(first);
    expect(third! > second!).toBe(true);
  });

  it('do not repeat', () => {
    const ids = new Set(Array.from({ length: 100_000 }, () => newId('gen')));
    expect(ids.size).toBe(100_000);
  });
});

it('returns the least id of a time, which sorts before all ids from then on and after all earlier ids', () => {
  const idsAt = (at: number, byte: number) =>
    createIdSource({ now: () => at, fillRandom: (bytes) => bytes.fill(byte) })('gen');
  const at = Date.UTC(2026, 10, 22);
  expect(smallestIdAt('gen', at) < idsAt(at, 0)).toBe(true);
  expect(smallestIdAt('gen', at) > idsAt(at - 1, 255)).toBe(true);
});
