import { pricesOf, type StatedPrices } from '@gateway/base';
import { comparePrices } from './compare-prices';

const base: StatedPrices = { input: 3n, cached_input: 1n, output: 15n };
const tier = { above: 1000, input: 6n, cached_input: 2n, output: 30n };

const compare = (current: StatedPrices, published: StatedPrices) =>
  comparePrices(pricesOf(current), published);

describe('the comparison of prices', () => {
  it('finds no difference between equal prices, whether a default is stated or not', () => {
    const equal = { differences: [], unconfirmed: [] };
    expect(compare(base, base)).toEqual(equal);
    expect(compare({ ...base, tiers: [tier] }, { ...base, tiers: [tier] })).toEqual(equal);
    expect(compare(base, { ...base, cache_write: 3n, reasoning: 15n })).toEqual(equal);
    expect(compare({ ...base, tiers: [{ ...base, above: 500 }] }, base)).toEqual(equal);
  });

  it('names each price that differs, by the size of the prompt', () => {
    expect(
      compare({ ...base, input: 4n, tiers: [tier] }, { ...base, tiers: [{ ...tier, output: 31n }] }),
    ).toEqual({
      differences: [
        {
          price: 'input',
          abovePromptTokens: 0,
          currentNanoUsdPerMillion: 4n,
          publishedNanoUsdPerMillion: 3n,
        },
        {
          price: 'output',
          abovePromptTokens: 1000,
          currentNanoUsdPerMillion: 30n,
          publishedNanoUsdPerMillion: 31n,
        },
      ],
      unconfirmed: [],
    });
  });

  it('finds a price that only the published prices state', () => {
    expect(compare({ input: 3n, output: 15n }, base).differences).toEqual([
      {
        price: 'cached_input',
        abovePromptTokens: 0,
        currentNanoUsdPerMillion: 3n,
        publishedNanoUsdPerMillion: 1n,
      },
    ]);
  });

  it.each([
    ['published', base, { ...base, tiers: [tier] }],
    ['current', { ...base, tiers: [tier] }, base],
  ])('finds a tier that only the %s prices have', (_side, current, published) => {
    const { differences } = compare(current, published);
    expect(differences.map(({ price, abovePromptTokens }) => [price, abovePromptTokens])).toEqual([
      ['input', 1000],
      ['cached_input', 1000],
      ['output', 1000],
    ]);
  });

  it('lists a price that the published ones do not state, unless it is at its default', () => {
    const current = { ...base, cache_write: 4n, tiers: [{ ...tier, cache_write: 6n, reasoning: 31n }] };
    expect(compare(current, { ...base, tiers: [tier] })).toEqual({
      differences: [],
      unconfirmed: ['cache_write', 'reasoning'],
    });
  });
});
