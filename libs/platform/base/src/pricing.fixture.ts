import fc from 'fast-check';
import type { Prices, TokenPrices } from './pricing';

const price = fc.bigInt({ min: 0n, max: 10n ** 12n });

/** Few distinct prices, so that prices at their default are frequent. */
const tokenPrices: fc.Arbitrary<TokenPrices> = fc
  .array(price, { minLength: 1, maxLength: 3 })
  .chain((few) => {
    const one = fc.constantFrom(...few);
    return fc.record({
      inputNanoUsdPerMillion: one,
      cachedInputNanoUsdPerMillion: one,
      cacheWriteNanoUsdPerMillion: one,
      cacheWrite1hNanoUsdPerMillion: one,
      outputNanoUsdPerMillion: one,
      reasoningNanoUsdPerMillion: one,
      imageNanoUsdPerMillion: one,
    });
  });

const tiers = fc
  .uniqueArray(fc.integer({ min: 1, max: 2_000_000 }), { maxLength: 3 })
  .chain((bounds) =>
    fc.tuple(
      ...bounds
        .toSorted((a, b) => a - b)
        .map((abovePromptTokens) => tokenPrices.map((prices) => ({ abovePromptTokens, ...prices }))),
    ),
  );

export const anyPrices: fc.Arbitrary<Prices> = fc
  .tuple(tokenPrices, tiers)
  .map(([prices, itsTiers]) => ({ ...prices, tiers: itsTiers }));
