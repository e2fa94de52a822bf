import type { Prices, TokenPrices, Usage } from '@gateway/base';

/** Prices of the reference model. They share no code with the ledger, as `ledger-model.ts`. */

export const NO_PRICES: Prices = {
  inputNanoUsdPerMillion: 0n,
  cachedInputNanoUsdPerMillion: 0n,
  cacheWriteNanoUsdPerMillion: 0n,
  cacheWrite1hNanoUsdPerMillion: 0n,
  outputNanoUsdPerMillion: 0n,
  reasoningNanoUsdPerMillion: 0n,
  imageNanoUsdPerMillion: 0n,
  tiers: [],
};

/** Each token at the price of its kind, in the highest tier below the prompt; the sum is rounded up to a nano-dollar. */
export function costOf(usage: Usage, allPrices: Prices): bigint {
  let prices: TokenPrices = allPrices;
  for (const tier of allPrices.tiers) {
    if (usage.promptTokens > tier.abovePromptTokens) prices = tier;
  }
  const uncached = usage.promptTokens - usage.cachedTokens;
  const unwritten = uncached - usage.cacheWriteTokens - usage.cacheWrite1hTokens;
  const image = Math.min(usage.imageTokens, unwritten);
  const parts: readonly (readonly [tokens: number, price: bigint])[] = [
    [unwritten - image, prices.inputNanoUsdPerMillion],
    [usage.cacheWriteTokens, prices.cacheWriteNanoUsdPerMillion],
    [usage.cacheWrite1hTokens, prices.cacheWrite1hNanoUsdPerMillion],
    [usage.cachedTokens, prices.cachedInputNanoUsdPerMillion],
    [image, prices.imageNanoUsdPerMillion],
    [usage.completionTokens - usage.reasoningTokens, prices.outputNanoUsdPerMillion],
    [usage.reasoningTokens, prices.reasoningNanoUsdPerMillion],
  ];
  const millionths = parts.reduce((total, [tokens, price]) => total + BigInt(tokens) * price, 0n);
  return millionths % 1_000_000n === 0n ? millionths / 1_000_000n : millionths / 1_000_000n + 1n;
}
