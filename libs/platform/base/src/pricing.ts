import { nanoUsd, type NanoUsd } from './money';

/** Prices per kind of token, in nano-dollars per million tokens. */
export interface TokenPrices {
  readonly inputNanoUsdPerMillion: bigint;
  readonly cachedInputNanoUsdPerMillion: bigint;
  /** Input tokens that the provider writes to its prompt cache for five minutes, or for its only lifetime. */
  readonly cacheWriteNanoUsdPerMillion: bigint;
  /** Input tokens that the provider writes to its prompt cache for one hour. */
  readonly cacheWrite1hNanoUsdPerMillion: bigint;
  readonly outputNanoUsdPerMillion: bigint;
  readonly reasoningNanoUsdPerMillion: bigint;
  readonly imageNanoUsdPerMillion: bigint;
}

/** The prices of all tokens of a request whose prompt has more tokens than `abovePromptTokens`. */
export interface PriceTier extends TokenPrices {
  readonly abovePromptTokens: number;
}

export interface Prices extends TokenPrices {
  /** In ascending order of `abovePromptTokens`; the last one that applies counts. Mutable, as in generated messages. */
  readonly tiers: PriceTier[];
}

/**
 * Tokens of one generation. Cached, written and image tokens are separate parts
 * of the prompt's, reasoning tokens are part of the completion's.
 */
export interface Usage {
  readonly promptTokens: number;
  readonly cachedTokens: number;
  /** Written to the prompt cache for five minutes, or for the provider's only lifetime. */
  readonly cacheWriteTokens: number;
  /** Written to the prompt cache for one hour. */
  readonly cacheWrite1hTokens: number;
  readonly imageTokens: number;
  readonly completionTokens: number;
  readonly reasoningTokens: number;
}

export const NO_USAGE: Usage = {
  promptTokens: 0,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  cacheWrite1hTokens: 0,
  imageTokens: 0,
  completionTokens: 0,
  reasoningTokens: 0,
};

/** The longest lifetime for which a request can write to the provider's prompt cache. */
export type CacheWriteLifetime = 'none' | '5m' | '1h';

const TOKENS_PER_PRICE = 1_000_000n;

/** Kinds of tokens that have a price, in the order in which they are shown. */
export type TokenKind =
  'input' | 'cached_input' | 'cache_write' | 'cache_write_1h' | 'image' | 'output' | 'reasoning';

interface PricedTokens {
  readonly kind: TokenKind;
  readonly tokens: number;
  readonly priceNanoUsdPerMillion: bigint;
}

export interface CostOfKind extends PricedTokens {
  readonly costNanoUsd: NanoUsd;
}

/** The prices that apply to a request with so many prompt tokens. */
export function pricesForPrompt(prices: Prices, promptTokens: number): TokenPrices {
  return prices.tiers.findLast(({ abovePromptTokens }) => promptTokens > abovePromptTokens) ?? prices;
}

/**
 * Assigns every token to the one kind that it is charged as. In case a provider
 * reports more parts than tokens, the parts of the prompt are capped at the prompt
 * tokens, in the order cached, written, image, and reasoning at the completion tokens.
 */
function pricedTokens(usage: Usage, allPrices: Prices): readonly PricedTokens[] {
  const prices = pricesForPrompt(allPrices, usage.promptTokens);
  let plain = usage.promptTokens;
  const partOfPrompt = (tokens: number) => {
    const part = Math.min(tokens, plain);
    plain -= part;
    return part;
  };
  const cached = partOfPrompt(usage.cachedTokens);
  const written1h = partOfPrompt(usage.cacheWrite1hTokens);
  const written = partOfPrompt(usage.cacheWriteTokens);
  const image = partOfPrompt(usage.imageTokens);
  const reasoning = Math.min(usage.reasoningTokens, usage.completionTokens);
  return [
    { kind: 'input', tokens: plain, priceNanoUsdPerMillion: prices.inputNanoUsdPerMillion },
    { kind: 'cached_input', tokens: cached, priceNanoUsdPerMillion: prices.cachedInputNanoUsdPerMillion },
    { kind: 'cache_write', tokens: written, priceNanoUsdPerMillion: prices.cacheWriteNanoUsdPerMillion },
    {
      kind: 'cache_write_1h',
      tokens: written1h,
      priceNanoUsdPerMillion: prices.cacheWrite1hNanoUsdPerMillion,
    },
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
    (sum, { tokens, priceNanoUsdPerMillion }) =>
      tokens === 0 ? sum : sum + BigInt(tokens) * priceNanoUsdPerMillion,
    0n,
  );
}

/**
 * The maximum cost of a request: all tokens at the highest input and output
 * prices. Of the tiers, those that apply to a prompt of at most `inputTokens` count.
 */
export function worstCaseCost(
  inputTokens: number,
  outputTokens: number,
  prices: Prices,
  cacheWrites: CacheWriteLifetime,
): NanoUsd {
  const reachable = prices.tiers.filter(({ abovePromptTokens }) => inputTokens > abovePromptTokens);
  const [first, ...others] = [prices, ...reachable].map(
    (tier) =>
      BigInt(inputTokens) * highestInputPrice(tier, cacheWrites) +
      BigInt(outputTokens) * max(tier.outputNanoUsdPerMillion, tier.reasoningNanoUsdPerMillion),
  ) as [bigint, ...bigint[]];
  return nanoUsd(roundUp(max(first, ...others)));
}

function highestInputPrice(prices: TokenPrices, cacheWrites: CacheWriteLifetime): bigint {
  const highest = max(
    prices.inputNanoUsdPerMillion,
    prices.cachedInputNanoUsdPerMillion,
    prices.imageNanoUsdPerMillion,
  );
  if (cacheWrites === 'none') return highest;
  const highestOf5m = max(highest, prices.cacheWriteNanoUsdPerMillion);
  return cacheWrites === '5m' ? highestOf5m : max(highestOf5m, prices.cacheWrite1hNanoUsdPerMillion);
}

function roundUp(tokenPrices: bigint): bigint {
  return (tokenPrices + TOKENS_PER_PRICE - 1n) / TOKENS_PER_PRICE;
}

function max(first: bigint, ...others: bigint[]): bigint {
  return others.reduce((most, price) => (price > most ? price : most), first);
}
