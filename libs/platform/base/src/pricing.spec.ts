import fc from 'fast-check';
import { costByKind, costOfUsage, worstCaseCost, type Prices, type Usage } from './pricing';
import { anyPrices } from './pricing.fixture';

const prices: Prices = {
  inputNanoUsdPerMillion: 3_000_000_000n,
  cachedInputNanoUsdPerMillion: 300_000_000n,
  cacheWriteNanoUsdPerMillion: 3_750_000_000n,
  cacheWrite1hNanoUsdPerMillion: 6_000_000_000n,
  outputNanoUsdPerMillion: 15_000_000_000n,
  reasoningNanoUsdPerMillion: 20_000_000_000n,
  imageNanoUsdPerMillion: 5_000_000_000n,
  tiers: [],
};
const nothing: Usage = {
  promptTokens: 0,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  cacheWrite1hTokens: 0,
  imageTokens: 0,
  completionTokens: 0,
  reasoningTokens: 0,
};
const { tiers: _none, ...tokenPrices } = prices;
const tiered: Prices = {
  ...prices,
  tiers: [
    { ...tokenPrices, abovePromptTokens: 1000, inputNanoUsdPerMillion: 6_000_000_000n },
    {
      ...tokenPrices,
      abovePromptTokens: 2000,
      inputNanoUsdPerMillion: 9_000_000_000n,
      outputNanoUsdPerMillion: 45_000_000_000n,
    },
  ],
};

describe('costOfUsage', () => {
  it('prices each kind of token once', () => {
    const usage = {
      promptTokens: 1000,
      cachedTokens: 300,
      cacheWriteTokens: 40,
      cacheWrite1hTokens: 60,
      imageTokens: 100,
      completionTokens: 70,
      reasoningTokens: 20,
    };
    expect(costOfUsage(usage, prices)).toBe(
      500n * 3000n + 300n * 300n + 40n * 3750n + 60n * 6000n + 100n * 5000n + 50n * 15_000n + 20n * 20_000n,
    );
  });

  it('caps the parts of a prompt at its tokens: cached, then written, then image tokens', () => {
    const usage = {
      ...nothing,
      promptTokens: 100,
      cachedTokens: 30,
      cacheWrite1hTokens: 20,
      cacheWriteTokens: 90,
    };
    expect(costOfUsage({ ...usage, imageTokens: 10 }, prices)).toBe(30n * 300n + 20n * 6000n + 50n * 3750n);
  });

  it('charges all tokens of a prompt above the bound of a tier at the prices of that tier', () => {
    const cost = (promptTokens: number) =>
      costOfUsage({ ...nothing, promptTokens, completionTokens: 10 }, tiered);
    expect(cost(1000)).toBe(1000n * 3000n + 10n * 15_000n);
    expect(cost(1001)).toBe(1001n * 6000n + 10n * 15_000n);
    expect(cost(2000)).toBe(2000n * 6000n + 10n * 15_000n);
    expect(cost(2001)).toBe(2001n * 9000n + 10n * 45_000n);
  });

  it('rounds up once, to a whole nano-dollar', () => {
    const cheap = { ...prices, inputNanoUsdPerMillion: 1n };
    expect(costOfUsage({ ...nothing, promptTokens: 1 }, cheap)).toBe(1n);
    expect(costOfUsage({ ...nothing, promptTokens: 1_000_001 }, cheap)).toBe(2n);
    expect(costOfUsage(nothing, prices)).toBe(0n);
  });

  it('never exceeds the worst case that was held, and is the sum of the costs by kind', () => {
    const tokens = fc.nat({ max: 2_000_000 });
    fc.assert(
      fc.property(
        fc.record({
          promptTokens: tokens,
          cachedTokens: tokens,
          cacheWriteTokens: tokens,
          cacheWrite1hTokens: tokens,
          imageTokens: tokens,
          completionTokens: tokens,
          reasoningTokens: tokens,
        }),
        anyPrices,
        tokens,
        (usage, itsPrices, overestimated) => {
          const cost = costOfUsage(usage, itsPrices);
          expect(cost >= 0n).toBe(true);
          const byKind = costByKind(usage, itsPrices);
          expect(byKind.every(({ costNanoUsd }) => costNanoUsd >= 0n)).toBe(true);
          expect(byKind.reduce((sum, { costNanoUsd }) => sum + costNanoUsd, 0n)).toBe(cost);
          expect(byKind.reduce((sum, { tokens: count }) => sum + count, 0)).toBe(
            usage.promptTokens + usage.completionTokens,
          );
          const held = (inputTokens: number, cacheWrites: 'none' | '5m' | '1h') =>
            worstCaseCost(inputTokens, usage.completionTokens, itsPrices, cacheWrites);
          expect(cost <= held(usage.promptTokens, '1h')).toBe(true);
          expect(cost <= held(usage.promptTokens + overestimated, '1h')).toBe(true);
          const within5m = { ...usage, cacheWrite1hTokens: 0 };
          expect(costOfUsage(within5m, itsPrices) <= held(usage.promptTokens, '5m')).toBe(true);
          const unwritten = { ...within5m, cacheWriteTokens: 0 };
          expect(costOfUsage(unwritten, itsPrices) <= held(usage.promptTokens, 'none')).toBe(true);
        },
      ),
    );
  });
});

describe('worstCaseCost', () => {
  it('counts a write price only when the request can write for that lifetime', () => {
    const withoutImages = { ...prices, imageNanoUsdPerMillion: 0n };
    expect(worstCaseCost(10, 0, withoutImages, 'none')).toBe(30_000n);
    expect(worstCaseCost(10, 0, withoutImages, '5m')).toBe(37_500n);
    expect(worstCaseCost(10, 0, withoutImages, '1h')).toBe(60_000n);
  });

  it('counts the tiers that the prompt can reach, also when a higher tier is cheaper', () => {
    expect(worstCaseCost(1000, 0, tiered, 'none')).toBe(1000n * 5000n);
    expect(worstCaseCost(1001, 0, tiered, 'none')).toBe(1001n * 6000n);
    const cheaper = { ...tiered, inputNanoUsdPerMillion: 100_000_000_000n };
    expect(worstCaseCost(2001, 0, cheaper, 'none')).toBe(2001n * 100_000n);
  });
});
