import { differencesFromFrozenPrices } from './frozen-prices';

const TOKENS = {
  ...{
    prompt: 100n,
    cached: 40n,
    cacheWrite: 20n,
    cacheWrite1h: 0n,
    image: 0n,
    completion: 30n,
    reasoning: 10n,
  },
};
const one = { id: 'a', organization: 'org-1', charged: 0n };

const problemsOf = (cost: bigint, frozen: string, recorded: string | undefined = frozen) =>
  differencesFromFrozenPrices({
    settled: new Map([['a', { ...one, cost, prices: frozen }]]),
    recorded: [{ ...one, cost, prices: recorded, marker: undefined, status: 'completed', tokens: TOKENS }],
  });

describe('the comparison of costs with the prices of holds', () => {
  it.each([
    // 60 × 2 + 40 × 2 + 30 × 5 dollars per million.
    ['prices that are not stated', 'input=2000000000 output=5000000000', 350_000n],
    [
      'a price of each kind',
      'input=2000000000 cached_input=1000000000 cache_write=3000000000 output=5000000000 reasoning=7000000000',
      40n * 2_000n + 40n * 1_000n + 20n * 3_000n + 20n * 5_000n + 10n * 7_000n,
    ],
    ['a part of a nano-dollar, rounded up', 'input=1 output=0', 1n],
  ])('computes %s', (_name, prices, cost) => {
    expect(problemsOf(cost, prices)).toEqual([]);
    expect(problemsOf(cost + 1n, prices)).toEqual([
      `a: cost ${cost + 1n}, ${cost} at the prices of its hold`,
    ]);
  });

  it('finds other prices than those of the hold', () => {
    const [frozen, current] = ['input=1 output=0', 'input=2 output=0'];
    expect(problemsOf(1n, frozen, current)).toEqual([
      'a: held with the prices "input=1 output=0", recorded with "input=2 output=0"',
    ]);
    expect(problemsOf(1n, frozen, undefined)).toEqual([]);
  });
});
