import type { StatedPrices, StatedTokenPrices } from '@gateway/base';
import type { Catalogue, Model } from '../catalogue/model-catalogue';
import type { FindPriceData, PriceCollection, PriceData } from './compare-catalogue';
import { comparePrices } from './compare-prices';
import { priceNames, publishedPricesOf } from './published-prices';

/** The margin is a number of percent with at most two digits after the point. */
const PARTS_PER_PERCENT = 100;
const ALL_PARTS = 10_000n;

export interface ProposedPrices {
  readonly modelId: string;
  /** The published prices with the margin; only those that are published. */
  readonly prices: StatedPrices;
}

export interface PriceProposals {
  /** The proposals for models whose prices differ. */
  readonly proposals: readonly ProposedPrices[];
  /** Why a model has no proposal, or what a proposal leaves out; for people. */
  readonly notes: readonly string[];
}

/** Compares the prices of each model with those that the provider of its first target publishes, plus a margin. */
export function proposePrices(
  catalogue: Catalogue,
  findPriceData: FindPriceData,
  { marginPercent, at }: { readonly marginPercent: number; readonly at: Date },
): PriceProposals {
  const proposals: ProposedPrices[] = [];
  const notes: string[] = [];
  for (const model of catalogue.models.values()) {
    const published = publishedOf(model, findPriceData, at);
    if (typeof published === 'string') {
      notes.push(`${model.id}: ${published}`);
      continue;
    }
    notes.push(...published.notes.map((note) => `${model.id}: not expressible: ${note}`));
    notes.push(
      ...published.upcoming.map(({ from }) => `${model.id}: other prices are announced from ${from}`),
    );
    const prices = withMargin(published.prices, marginPercent);
    if (comparePrices(model.prices, prices).differences.length > 0)
      proposals.push({ modelId: model.id, prices });
  }
  return { proposals, notes };
}

/** What is published of a model that the catalogue does not have. */
export interface ProposedModel {
  /** The name of a provider of the catalogue. */
  readonly provider: string;
  readonly data: PriceData;
  /** The published prices: what the provider charges. */
  readonly cost: StatedPrices;
  /** The published prices with the margin. */
  readonly prices: StatedPrices;
}

/** The published models of each provider that no target names. */
export function proposeModels(
  catalogue: Catalogue,
  { find, list }: PriceCollection,
  { marginPercent, at }: { readonly marginPercent: number; readonly at: Date },
): readonly ProposedModel[] {
  const targets = [...catalogue.models.values()].flatMap((model) => model.targets);
  return [...catalogue.providers.values()].flatMap(({ name, baseUrl }) => {
    const known = new Set(
      targets
        .filter(({ provider }) => provider.name === name)
        .map(({ providerModel }) => find(baseUrl, providerModel)?.model),
    );
    return list(baseUrl).flatMap((data): ProposedModel[] => {
      const result = publishedPricesOf(data.prices, at);
      if (known.has(data.model) || !result.ok) return [];
      const { prices: cost } = result.published;
      return [{ provider: name, data, cost, prices: withMargin(cost, marginPercent) }];
    });
  });
}

function publishedOf({ targets }: Model, findPriceData: FindPriceData, at: Date) {
  const [target] = targets;
  const data = target && findPriceData(target.provider.baseUrl, target.providerModel);
  if (!data) return 'not in the price data';
  const result = publishedPricesOf(data.prices, at);
  return result.ok ? result.published : `its prices are not usable: ${result.reason}`;
}

function withMargin({ tiers, ...prices }: StatedPrices, marginPercent: number): StatedPrices {
  const parts = ALL_PARTS + BigInt(Math.round(marginPercent * PARTS_PER_PERCENT));
  return {
    ...pricedWith(prices, parts),
    ...(tiers && { tiers: tiers.map((tier) => ({ above: tier.above, ...pricedWith(tier, parts) })) }),
  };
}

/** Rounded up to a nano-dollar. */
function pricedWith(prices: StatedTokenPrices, parts: bigint): StatedTokenPrices {
  const priced = priceNames.flatMap((name) => {
    const price = prices[name];
    return price === undefined ? [] : [[name, (price * parts + ALL_PARTS - 1n) / ALL_PARTS]];
  });
  return Object.fromEntries(priced) as StatedTokenPrices;
}
