import { nanoUsd, type NanoUsd } from './money';

/** Prices per kind of token, in nano-dollars per million tokens. */
export interface Prices {
  readonly inputNanoUsdPerMillion: bigint;
  readonly cachedInputNanoUsdPerMillion: bigint;
  readonly outputNanoUsdPerMillion: bigint;
  readonly reasoningNanoUsdPerMillion: bigint;
  readonly imageNanoUsdPerMillion: bigint;
}

/** Tokens of one generation. Cached and image tokens are part of the prompt's, reasoning tokens of the completion's. */
export interface Usage {
  readonly promptTokens: number;
  readonly cachedTokens: number;
  readonly imageTokens: number;
  readonly completionTokens: number;
  readonly reasoningTokens: number;
}

const TOKENS_PER_PRICE = 1_000_000n;

/**
 * What a generation costs: usage times prices, rounded up once to a whole
 * nano-dollar. A provider that reports more cached and image tokens than
 * prompt tokens, or more reasoning than completion tokens, is not believed
 * beyond the whole.
 */
export function costOfUsage(usage: Usage, prices: Prices): NanoUsd {
  const cached = Math.min(usage.cachedTokens, usage.promptTokens);
  const image = Math.min(usage.imageTokens, usage.promptTokens - cached);
  const reasoning = Math.min(usage.reasoningTokens, usage.completionTokens);
  const total =
    BigInt(usage.promptTokens - cached - image) * prices.inputNanoUsdPerMillion +
    BigInt(cached) * prices.cachedInputNanoUsdPerMillion +
    BigInt(image) * prices.imageNanoUsdPerMillion +
    BigInt(usage.completionTokens - reasoning) * prices.outputNanoUsdPerMillion +
    BigInt(reasoning) * prices.reasoningNanoUsdPerMillion;
  return nanoUsd(roundUp(total));
}

/**
 * The most that a request can cost: every input token at the dearest input
 * price, every output token at the dearest output price.
 */
export function worstCaseCost(inputTokens: number, outputTokens: number, prices: Prices): NanoUsd {
  const input = max(
    prices.inputNanoUsdPerMillion,
    prices.cachedInputNanoUsdPerMillion,
    prices.imageNanoUsdPerMillion,
  );
  const output = max(prices.outputNanoUsdPerMillion, prices.reasoningNanoUsdPerMillion);
  return nanoUsd(roundUp(BigInt(inputTokens) * input + BigInt(outputTokens) * output));
}

function roundUp(tokenPrices: bigint): bigint {
  return (tokenPrices + TOKENS_PER_PRICE - 1n) / TOKENS_PER_PRICE;
}

function max(first: bigint, ...others: bigint[]): bigint {
  return others.reduce((most, price) => (price > most ? price : most), first);
}
