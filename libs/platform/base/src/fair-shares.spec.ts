import { FairShares } from './fair-shares';

/** Takes one unit at a time until the owner gets none. */
function takeAll(shares: FairShares, owner: string, capacity: number): number {
  let taken = 0;
  while (shares.take(owner, 1, capacity)) taken += 1;
  return taken;
}

it.each([
  [0, 0],
  [1, 1],
  [7, 7],
  [16, 14],
  [512, 448],
])('of %d units, gives one owner alone %d, and the rest to others', (capacity, expected) => {
  const shares = new FairShares();
  expect(takeAll(shares, 'busy', capacity)).toBe(expected);
  for (let other = 0; shares.inUse < capacity; other += 1) {
    expect(takeAll(shares, `other-${other}`, capacity)).toBeGreaterThan(0);
  }
});

it('gives the whole capacity to one item that grows', () => {
  const shares = new FairShares();
  for (let taken = 0; taken < 16; taken += 1) expect(shares.take('a', 1, 16, taken)).toBe(true);
  expect(shares.take('a', 1, 16, 16)).toBe(false);
});

it('takes an amount whole or not, and returns all of it', () => {
  const shares = new FairShares();
  expect([shares.take('a', 800, 1_000), shares.take('a', 201, 1_000)]).toEqual([true, false]);
  expect([shares.take('b', 200, 1_000), shares.take('b', 1, 1_000)]).toEqual([true, false]);
  shares.release('a', 800);
  shares.release('b', 200);
  shares.release('never', 0);
  expect(shares.inUse).toBe(0);
  expect(takeAll(shares, 'a', 16)).toBe(14);
});
