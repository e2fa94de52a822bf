import type { Prices, TokenPrices } from './pricing';

/** The prices of one tier in the terms of models.yaml, in which most prices have a default. */
export interface StatedTokenPrices {
  readonly input: bigint;
  readonly cached_input?: bigint | undefined;
  readonly cache_write?: bigint | undefined;
  readonly cache_write_1h?: bigint | undefined;
  readonly output: bigint;
  readonly reasoning?: bigint | undefined;
  readonly image?: bigint | undefined;
}

export interface StatedPrices extends StatedTokenPrices {
  readonly tiers?: readonly (StatedTokenPrices & { readonly above: number })[] | undefined;
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
 * The canonical text of prices, in which they are stored: nano-dollars per million
 * tokens in the terms of models.yaml, such as
 * `input=3000000000 output=15000000000; above=200000 input=6000000000 output=22500000000`.
 * Equal prices have equal texts, since prices at their default are omitted and the
 * order is fixed. Without quotes, so that arrays of texts need no escaping.
 */
export function encodePrices(prices: Prices): string {
  let text = textOf(prices);
  for (const tier of prices.tiers) text += `; above=${tier.abovePromptTokens} ${textOf(tier)}`;
  return text;
}

function textOf(prices: TokenPrices): string {
  const input = prices.inputNanoUsdPerMillion;
  const cacheWrite = prices.cacheWriteNanoUsdPerMillion;
  const output = prices.outputNanoUsdPerMillion;
  return (
    `input=${input}` +
    unlessDefault('cached_input', prices.cachedInputNanoUsdPerMillion, input) +
    unlessDefault('cache_write', cacheWrite, input) +
    unlessDefault('cache_write_1h', prices.cacheWrite1hNanoUsdPerMillion, cacheWrite) +
    unlessDefault('image', prices.imageNanoUsdPerMillion, input) +
    ` output=${output}` +
    unlessDefault('reasoning', prices.reasoningNanoUsdPerMillion, output)
  );
}

function unlessDefault(term: keyof StatedTokenPrices, price: bigint, byDefault: bigint): string {
  return price === byDefault ? '' : ` ${term}=${price}`;
}

/**
 * Reads a text of `encodePrices`.
 *
 * @throws if the text is of any other form.
 */
export function decodePrices(text: string): Prices {
  const [base = '', ...tiers] = text.split('; ');
  const decoded = pricesOf({
    ...statedOf(base),
    tiers: tiers.map((tier) => ({ ...statedOf(tier), above: Number(numbersOf(tier).get('above')) })),
  });
  if (encodePrices(decoded) !== text) throw new Error(`not a stored price: ${JSON.stringify(text)}`);
  return decoded;
}

function statedOf(text: string): StatedTokenPrices {
  const numbers = numbersOf(text);
  return {
    input: numbers.get('input') ?? 0n,
    cached_input: numbers.get('cached_input'),
    cache_write: numbers.get('cache_write'),
    cache_write_1h: numbers.get('cache_write_1h'),
    image: numbers.get('image'),
    output: numbers.get('output') ?? 0n,
    reasoning: numbers.get('reasoning'),
  };
}

function numbersOf(text: string): ReadonlyMap<string, bigint> {
  return new Map(
    Array.from(text.matchAll(/([a-z0-9_]+)=(\d{1,18})/g), ([, term = '', number = '']) => [
      term,
      BigInt(number),
    ]),
  );
}
