import { pricesForPrompt, pricesOf, type Prices, type StatedPrices, type TokenPrices } from '@gateway/base';
import { priceNames, type PriceName } from './published-prices';

export interface PriceDifference {
  readonly price: PriceName;
  /** The prices of requests with more prompt tokens; 0 for those without a tier. */
  readonly abovePromptTokens: number;
  /** Nano-dollars per million tokens. */
  readonly currentNanoUsdPerMillion: bigint;
  readonly publishedNanoUsdPerMillion: bigint;
}

export interface PriceComparison {
  readonly differences: readonly PriceDifference[];
  /** Prices that were set although the published ones do not state them, so that nothing confirms them. */
  readonly unconfirmed: readonly PriceName[];
}

const FIELDS = {
  input: 'inputNanoUsdPerMillion',
  cached_input: 'cachedInputNanoUsdPerMillion',
  cache_write: 'cacheWriteNanoUsdPerMillion',
  cache_write_1h: 'cacheWrite1hNanoUsdPerMillion',
  output: 'outputNanoUsdPerMillion',
  reasoning: 'reasoningNanoUsdPerMillion',
  image: 'imageNanoUsdPerMillion',
} as const satisfies Readonly<Record<PriceName, keyof TokenPrices>>;

/** Compares what requests are charged, whichever way tiers and defaults express it. */
export function comparePrices(current: Prices, published: StatedPrices): PriceComparison {
  const resolved = pricesOf(published);
  const thresholds = new Set([
    0,
    ...[...current.tiers, ...resolved.tiers].map((tier) => tier.abovePromptTokens),
  ]);
  const stated = priceNames.filter((name) => published[name] !== undefined);
  const differences = [...thresholds]
    .sort((a, b) => a - b)
    .flatMap((abovePromptTokens) => {
      const ours = pricesForPrompt(current, abovePromptTokens + 1);
      const theirs = pricesForPrompt(resolved, abovePromptTokens + 1);
      return stated
        .filter((price) => ours[FIELDS[price]] !== theirs[FIELDS[price]])
        .map((price) => ({
          price,
          abovePromptTokens,
          currentNanoUsdPerMillion: ours[FIELDS[price]],
          publishedNanoUsdPerMillion: theirs[FIELDS[price]],
        }));
    });
  return {
    differences,
    unconfirmed: priceNames.filter((name) => !stated.includes(name) && isSet(current, name)),
  };
}

const DEFAULTS = {
  input: undefined,
  cached_input: 'input',
  cache_write: 'input',
  cache_write_1h: 'cache_write',
  output: undefined,
  reasoning: 'output',
  image: 'input',
} as const satisfies Readonly<Record<PriceName, PriceName | undefined>>;

function isSet({ tiers, ...prices }: Prices, name: PriceName): boolean {
  const byDefault = DEFAULTS[name];
  if (byDefault === undefined) return true;
  return [prices, ...tiers].some((tier) => tier[FIELDS[name]] !== tier[FIELDS[byDefault]]);
}
