import { formatUsd, nanoUsd, parseUsd } from './money';
import type { Prices, PriceTier, TokenPrices } from './pricing';

/** The prices of one tier in the terms of models.yaml, in which most prices have a default. */
export interface StatedTokenPrices<Price = bigint> {
  readonly input: Price;
  readonly cached_input?: Price | undefined;
  readonly cache_write?: Price | undefined;
  readonly cache_write_1h?: Price | undefined;
  readonly output: Price;
  readonly reasoning?: Price | undefined;
  readonly image?: Price | undefined;
}

export interface StatedPrices<Price = bigint> extends StatedTokenPrices<Price> {
  readonly tiers?: readonly (StatedTokenPrices<Price> & { readonly above: number })[] | undefined;
}

/** The largest price that a text can state. */
export const MAX_PRICE_NANO_USD_PER_MILLION = 10n ** 18n - 1n;

/** Fills in the defaults. */
export function pricesOf({ tiers = [], ...stated }: StatedPrices): Prices {
  return {
    ...tokenPricesOf(stated),
    tiers: tiers.map(({ above, ...prices }) => ({ abovePromptTokens: above, ...tokenPricesOf(prices) })),
  };
}

function tokenPricesOf(stated: StatedTokenPrices): TokenPrices {
  const cacheWrite = stated.cache_write ?? stated.input;
  return {
    inputNanoUsdPerMillion: stated.input,
    cachedInputNanoUsdPerMillion: stated.cached_input ?? stated.input,
    cacheWriteNanoUsdPerMillion: cacheWrite,
    cacheWrite1hNanoUsdPerMillion: stated.cache_write_1h ?? cacheWrite,
    outputNanoUsdPerMillion: stated.output,
    reasoningNanoUsdPerMillion: stated.reasoning ?? stated.output,
    imageNanoUsdPerMillion: stated.image ?? stated.input,
  };
}

/**
 * The canonical text of prices, in which they are stored: JSON in the terms of
 * models.yaml, such as `{"input":"0.15","cached_input":"0.075","output":"0.6"}`.
 * Equal prices have equal texts, since prices at their default are omitted and
 * the order is fixed. Prices are at most MAX_PRICE_NANO_USD_PER_MILLION.
 */
export function encodePrices(prices: Prices): string {
  return JSON.stringify({
    ...statedTextsOf(prices),
    // JSON omits undefined.
    tiers: prices.tiers.length > 0 ? prices.tiers.map(tierTextsOf) : undefined,
  });
}

function tierTextsOf(tier: PriceTier) {
  return { above: tier.abovePromptTokens, ...statedTextsOf(tier) };
}

function statedTextsOf(prices: TokenPrices): StatedTokenPrices<string> {
  const input = prices.inputNanoUsdPerMillion;
  const cacheWrite = prices.cacheWriteNanoUsdPerMillion;
  const output = prices.outputNanoUsdPerMillion;
  return {
    input: usdText(input),
    cached_input: unlessDefault(prices.cachedInputNanoUsdPerMillion, input),
    cache_write: unlessDefault(cacheWrite, input),
    cache_write_1h: unlessDefault(prices.cacheWrite1hNanoUsdPerMillion, cacheWrite),
    image: unlessDefault(prices.imageNanoUsdPerMillion, input),
    output: usdText(output),
    reasoning: unlessDefault(prices.reasoningNanoUsdPerMillion, output),
  };
}

function usdText(price: bigint): string {
  return formatUsd(nanoUsd(price));
}

function unlessDefault(price: bigint, byDefault: bigint): string | undefined {
  return price === byDefault ? undefined : usdText(price);
}

/**
 * Reads a text of `encodePrices`.
 *
 * @throws if the text is of any other form.
 */
export function decodePrices(text: string): Prices {
  const { tiers, ...stated } = JSON.parse(text) as StatedPrices<string>;
  return pricesOf({
    ...parsed(stated),
    tiers: tiers?.map(({ above, ...prices }) => ({ above, ...parsed(prices) })),
  });
}

function parsed(stated: StatedTokenPrices<string>): StatedTokenPrices {
  return {
    input: parsePrice(stated.input),
    cached_input: stated.cached_input === undefined ? undefined : parsePrice(stated.cached_input),
    cache_write: stated.cache_write === undefined ? undefined : parsePrice(stated.cache_write),
    cache_write_1h: stated.cache_write_1h === undefined ? undefined : parsePrice(stated.cache_write_1h),
    image: stated.image === undefined ? undefined : parsePrice(stated.image),
    output: parsePrice(stated.output),
    reasoning: stated.reasoning === undefined ? undefined : parsePrice(stated.reasoning),
  };
}

function parsePrice(text: string): bigint {
  const price = parseUsd(text);
  if (price === undefined) throw new Error(`not a stored price: ${JSON.stringify(text)}`);
  return price;
}
