import fc from 'fast-check';
import { costByKind, costOfUsage, worstCaseCost, type Prices } from './pricing';

const prices: Prices = {
  inputNanoUsdPerMillion: 3_000_000_000n,
  cachedInputNanoUsdPerMillion: 300_000_000n,
  outputNanoUsdPerMillion: 15_000_000_000n,
  reasoningNanoUsdPerMillion: 20_000_000_000n,
  imageNanoUsdPerMillion: 5_000_000_000n,
};
const nothing = { promptTokens: 0, cachedTokens: 0, imageTokens: 0, completionTokens: 0, reasoningTokens: 0 };

describe('costOfUsage', () => {
  it('prices each kind of token once', () => {
    // 600 plain × 3000 + 300 cached × 300 + 100 image × 5000 + 50 out × 15000 + 20 reasoning × 20000
    const usage = {
      promptTokens: 1000,
      cachedTokens: 300,
      imageTokens: 100,
      completionTokens: 70,
      reasoningTokens: 20,
    };
    expect(costOfUsage(usage, prices)).toBe(
      600n * 3000n + 300n * 300n + 100n * 5000n + 50n * 15_000n + 20n * 20_000n,
    );
  });

  it('rounds up once, to a whole nano-dollar', () => {
    const cheap = { ...prices, inputNanoUsdPerMillion: 1n };
    expect(costOfUsage({ ...nothing, promptTokens: 1 }, cheap)).toBe(1n);
    expect(costOfUsage({ ...nothing, promptTokens: 1_000_001 }, cheap)).toBe(2n);
    expect(costOfUsage(nothing, prices)).toBe(0n);
  });

  it('never exceeds the worst case that was held, and is the sum of the costs by kind', () => {
    const tokens = fc.nat({ max: 2_000_000 });
    const price = fc.bigInt({ min: 0n, max: 10n ** 12n });
    fc.assert(
      fc.property(
        fc.record({
          promptTokens: tokens,
          cachedTokens: tokens,
          imageTokens: tokens,
          completionTokens: tokens,
          reasoningTokens: tokens,
        }),
        fc.record({
          inputNanoUsdPerMillion: price,
          cachedInputNanoUsdPerMillion: price,
          outputNanoUsdPerMillion: price,
          reasoningNanoUsdPerMillion: price,
          imageNanoUsdPerMillion: price,
        }),
        (usage, anyPrices) => {
          const cost = costOfUsage(usage, anyPrices);
          expect(cost >= 0n).toBe(true);
          const byKind = costByKind(usage, anyPrices);
          expect(byKind.every(({ costNanoUsd }) => costNanoUsd >= 0n)).toBe(true);
          expect(byKind.reduce((sum, { costNanoUsd }) => sum + costNanoUsd, 0n)).toBe(cost);
          expect(byKind.reduce((sum, { tokens }) => sum + tokens, 0)).toBe(
            usage.promptTokens + usage.completionTokens,
          );
          expect(cost <= worstCaseCost(usage.promptTokens, usage.completionTokens, anyPrices)).toBe(true);
        },
      ),
    );
  });
});
