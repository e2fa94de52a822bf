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

/** Kinds of tokens that have a price, in the order in which they are shown. */
export type TokenKind = 'input' | 'cached_input' | 'image' | 'output' | 'reasoning';

interface PricedTokens {
  readonly kind: TokenKind;
  readonly tokens: number;
  readonly priceNanoUsdPerMillion: bigint;
}

export interface CostOfKind extends PricedTokens {
  readonly costNanoUsd: NanoUsd;
}

/**
 * Assigns every token to the one kind that it is charged as. Cached and image
 * tokens are capped at the prompt tokens, reasoning tokens at the completion
 * tokens, in case a provider reports more.
 */
function pricedTokens(usage: Usage, prices: Prices): readonly PricedTokens[] {
  const cached = Math.min(usage.cachedTokens, usage.promptTokens);
  const image = Math.min(usage.imageTokens, usage.promptTokens - cached);
  const reasoning = Math.min(usage.reasoningTokens, usage.completionTokens);
  return [
    {
      kind: 'input',
      tokens: usage.promptTokens - cached - image,
      priceNanoUsdPerMillion: prices.inputNanoUsdPerMillion,
    },
    { kind: 'cached_input', tokens: cached, priceNanoUsdPerMillion: prices.cachedInputNanoUsdPerMillion },
    { kind: 'image', tokens: image, priceNanoUsdPerMillion: prices.imageNanoUsdPerMillion },
    {
      kind: 'output',
      tokens: usage.completionTokens - reasoning,
      priceNanoUsdPerMillion: prices.outputNanoUsdPerMillion,
    },
    { kind: 'reasoning', tokens: reasoning, priceNanoUsdPerMillion: prices.reasoningNanoUsdPerMillion },
  ];
}

/** The cost of a generation: usage times prices, rounded up once to a whole nano-dollar. */
export function costOfUsage(usage: Usage, prices: Prices): NanoUsd {
  return nanoUsd(roundUp(tokenPricesOf(pricedTokens(usage, prices))));
}

/**
 * The cost by kind of token, which adds up to `costOfUsage`. Fractions of a
 * nano-dollar are carried over to the next kind.
 */
export function costByKind(usage: Usage, prices: Prices): readonly CostOfKind[] {
  let tokenPrices = 0n;
  let billed = 0n;
  return pricedTokens(usage, prices).map((priced) => {
    tokenPrices += BigInt(priced.tokens) * priced.priceNanoUsdPerMillion;
    const costNanoUsd = nanoUsd(roundUp(tokenPrices) - billed);
    billed += costNanoUsd;
    return { costNanoUsd, ...priced };
  });
}

function tokenPricesOf(priced: readonly PricedTokens[]): bigint {
  return priced.reduce(
    (sum, { tokens, priceNanoUsdPerMillion }) => sum + BigInt(tokens) * priceNanoUsdPerMillion,
    0n,
  );
}

/** The maximum cost of a request: all tokens at the highest input and output prices. */
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
