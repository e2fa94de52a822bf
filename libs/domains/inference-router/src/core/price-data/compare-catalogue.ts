import type { Catalogue, Model, Target } from '../catalogue/model-catalogue';
import { comparePrices, type PriceComparison, type PriceDifference } from './compare-prices';
import { publishedPricesOf, type PriceRecords, type PublishedPrices } from './published-prices';

/** What a collection of published prices knows about a provider's model. */
export interface PriceData {
  /** Its name in the collection. */
  readonly model: string;
  readonly displayName: string | undefined;
  /** Tokens. */
  readonly contextWindow: number | undefined;
  readonly prices: PriceRecords;
  /** The address where the provider publishes its prices. */
  readonly source: string | undefined;
}

/** Finds a model by the address of its provider and the provider's name of it. Undefined if either is unknown. */
export type FindPriceData = (baseUrl: string, providerModel: string) => PriceData | undefined;

/** The published prices of providers, by the addresses of their APIs. */
export interface PriceCollection {
  readonly find: FindPriceData;
  /** The models of a provider, without those that it no longer recommends. Empty if it is unknown. */
  readonly list: (baseUrl: string) => readonly PriceData[];
}

export type TargetComparison = { readonly model: Model; readonly target: Target } & (
  | { readonly result: 'unknown' }
  | { readonly result: 'unusable'; readonly reason: string }
  | ({
      readonly result: 'compared';
      /** A target's `cost` is compared where it is set, else the prices of its model. */
      readonly compared: 'cost' | 'prices';
      readonly notes: PublishedPrices['notes'];
      /** Announced changes that differ from the current prices, earliest first. */
      readonly upcoming: readonly {
        readonly from: string;
        readonly differences: readonly PriceDifference[];
      }[];
    } & PriceComparison)
);

/** Compares every target of a catalogue, disabled models included, with the prices that are published at a time. */
export function compareCatalogue(
  catalogue: Catalogue,
  findPriceData: FindPriceData,
  at: Date,
): readonly TargetComparison[] {
  return [...catalogue.models.values()].flatMap((model) =>
    model.targets.map((target) => ({ model, target, ...compareTarget(model, target, findPriceData, at) })),
  );
}

function compareTarget(model: Model, target: Target, findPriceData: FindPriceData, at: Date) {
  const data = findPriceData(target.provider.baseUrl, target.providerModel);
  if (!data) return { result: 'unknown' } as const;
  const result = publishedPricesOf(data.prices, at);
  if (!result.ok) return { result: 'unusable', reason: result.reason } as const;
  const { prices, notes, upcoming } = result.published;
  const current = target.cost ?? model.prices;
  return {
    result: 'compared',
    compared: target.cost ? 'cost' : 'prices',
    notes,
    upcoming: upcoming
      .map(({ from, prices: then }) => ({ from, differences: comparePrices(current, then).differences }))
      .filter(({ differences }) => differences.length > 0),
    ...comparePrices(current, prices),
  } as const;
}
