import type { StatedPrices } from '@gateway/base';
import { isMap, isSeq, parseDocument, type Node } from 'yaml';
import type { ProposedPrices } from '../../core/price-data/propose-prices';
import { endOf } from './append-item';
import { renderPrices, statedPriceTexts } from './render-prices';

/** The text with proposed prices. Prices that are not published stay as they are, and so does every other entry. */
export function withProposedPrices(text: string, proposals: readonly ProposedPrices[]): string {
  const proposedFor = new Map(proposals.map(({ modelId, prices }) => [modelId, prices]));
  const models = parseDocument(text).get('models', true);
  const edits = (isSeq(models) ? models.items : []).flatMap((model): Edit[] => {
    if (!isMap(model)) return [];
    const prices = model.get('prices', true);
    const proposed = proposedFor.get(String(model.get('id')));
    if (!proposed || !isMap(prices)) return [];
    return [{ node: prices, replacement: renderPrices(withUnpublished(prices.toJSON(), proposed)) }];
  });
  return edits.reduceRight(withEdit, text);
}

interface Edit {
  readonly node: Node;
  readonly replacement: string;
}

/** @param written prices of the text, as decimals */
function withUnpublished(written: unknown, proposed: StatedPrices): Readonly<Record<string, unknown>> {
  const { tiers: _tiers, ...unpublished } = written as Readonly<Record<string, unknown>>;
  return { ...unpublished, ...statedPriceTexts(proposed) };
}

function withEdit(text: string, { node, replacement }: Edit): string {
  const [start = 0] = node.range ?? [];
  return `${text.slice(0, start)}${replacement}${text.slice(endOf(node))}`;
}
