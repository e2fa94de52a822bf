import fc from 'fast-check';
import { decodePrices, encodePrices, MAX_PRICE_NANO_USD_PER_MILLION, pricesOf } from './price-text';
import { anyPrices } from './pricing.fixture';

const usd = (amount: number) => BigInt(amount * 1_000_000_000);

describe('pricesOf', () => {
  it('fills in the defaults', () => {
    expect(
      pricesOf({ input: 3n, output: 15n, tiers: [{ above: 200, input: 6n, cache_write: 7n, output: 22n }] }),
    ).toEqual({
      inputNanoUsdPerMillion: 3n,
      cachedInputNanoUsdPerMillion: 3n,
      cacheWriteNanoUsdPerMillion: 3n,
      cacheWrite1hNanoUsdPerMillion: 3n,
      outputNanoUsdPerMillion: 15n,
      reasoningNanoUsdPerMillion: 15n,
      imageNanoUsdPerMillion: 3n,
      tiers: [
        {
          abovePromptTokens: 200,
          inputNanoUsdPerMillion: 6n,
          cachedInputNanoUsdPerMillion: 6n,
          cacheWriteNanoUsdPerMillion: 7n,
          cacheWrite1hNanoUsdPerMillion: 7n,
          outputNanoUsdPerMillion: 22n,
          reasoningNanoUsdPerMillion: 22n,
          imageNanoUsdPerMillion: 6n,
        },
      ],
    });
  });
});

describe('the text of prices', () => {
  it('has the terms of models.yaml, in a fixed order, without prices at their default', () => {
    const prices = { input: usd(0.15), cached_input: usd(0.075), output: usd(0.6), reasoning: usd(0.6) };
    expect(encodePrices(pricesOf(prices))).toBe('input=150000000 cached_input=75000000 output=600000000');
    const all = {
      output: 15n,
      reasoning: 20n,
      image: 5n,
      cache_write_1h: 6n,
      cache_write: 4n,
      cached_input: 1n,
      input: 3n,
      tiers: [{ above: 200_000, output: 30n, input: 6n }],
    };
    expect(encodePrices(pricesOf(all))).toBe(
      'input=3 cached_input=1 cache_write=4 cache_write_1h=6 image=5 output=15 reasoning=20; above=200000 input=6 output=30',
    );
  });

  it('decodes to the same prices', () => {
    fc.assert(fc.property(anyPrices, (prices) => expect(decodePrices(encodePrices(prices))).toEqual(prices)));
    const highest = pricesOf({ input: MAX_PRICE_NANO_USD_PER_MILLION, output: 0n });
    expect(decodePrices(encodePrices(highest))).toEqual(highest);
  });

  it('is equal for equal prices only', () => {
    fc.assert(
      fc.property(anyPrices, anyPrices, (prices, others) => {
        const json = (value: unknown) =>
          JSON.stringify(value, (_key, item: unknown) => (typeof item === 'bigint' ? String(item) : item));
        expect(encodePrices(prices) === encodePrices(others)).toBe(json(prices) === json(others));
        expect(encodePrices(structuredClone(prices))).toBe(encodePrices(prices));
      }),
    );
  });

  it.each([
    '',
    '{}',
    'input=1',
    'input=- output=1',
    'output=1 input=1',
    'input=1 cached_input=1 output=1',
    'input=1 output=1; input=1 output=1',
  ])('of the form %p is refused', (text) => expect(() => decodePrices(text)).toThrow());
});
