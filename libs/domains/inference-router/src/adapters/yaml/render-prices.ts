import { formatUsd, nanoUsd, type StatedPrices } from '@gateway/base';
import { Document } from 'yaml';
import { priceNames } from '../../core/price-data/published-prices';

/** Prices as the decimals of a models file. */
export function priceTexts(prices: Omit<StatedPrices, 'tiers'>): Record<string, string> {
  const stated = priceNames.flatMap((name) => {
    const price = prices[name];
    return price === undefined ? [] : [[name, formatUsd(nanoUsd(price))] as const];
  });
  return Object.fromEntries(stated);
}

/** Prices with their tiers as the values of a models file. */
export function statedPriceTexts({ tiers, ...prices }: StatedPrices): Record<string, unknown> {
  const texts = tiers?.map((tier) => ({ above: tier.above, ...priceTexts(tier) }));
  return { ...priceTexts(prices), ...(texts ? { tiers: texts } : {}) };
}

/** One line, such as "{ input: '3', output: '15' }". */
export function renderPrices(texts: Readonly<Record<string, unknown>>): string {
  const document = new Document();
  document.contents = document.createNode(texts, { flow: true }) as never;
  return document.toString({ lineWidth: 0, singleQuote: true }).trimEnd();
}
