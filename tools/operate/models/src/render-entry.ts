import type { StatedPrices } from '@gateway/base';
import { priceTexts, renderPrices, statedPriceTexts } from '@gateway/inference-router';
import { Document, isMap, isScalar, type Pair, type Scalar } from 'yaml';
import type { AddOptions } from './options';
import type { ProviderFields } from './new-providers';

export interface NewModel {
  readonly options: AddOptions & Required<Pick<AddOptions, 'capabilities'>>;
  readonly providerName: string;
  readonly displayName: string | undefined;
  readonly contextWindow: number;
  readonly prices: StatedPrices;
  /** Above the prices. */
  readonly comments: readonly string[];
}

/** The entry of a provider in models.yaml. */
export function renderProvider(name: string, fields: ProviderFields): string {
  return render(new Document([{ name, ...fields }]));
}

/** The entry of a model in models.yaml. */
export function renderModel(model: NewModel): string {
  const { options, providerName, displayName, contextWindow, prices, comments } = model;
  const document = new Document();
  const inline = (value: unknown) => document.createNode(value, { flow: true });
  const { capabilities = [], reasoningEfforts } = options;
  document.contents = document.createNode([
    {
      id: `${options.provider}/${options.providerModel}`,
      ...(displayName === undefined ? {} : { name: displayName }),
      owned_by: options.provider,
      targets: [{ provider: providerName, model: options.providerModel }],
      context_window: contextWindow,
      max_output_tokens: options.maxOutputTokens,
      ...(capabilities.length > 0 ? { capabilities: inline(capabilities) } : {}),
      ...(reasoningEfforts ? { reasoning_efforts: inline(reasoningEfforts) } : {}),
      prices: {
        ...priceTexts(prices),
        ...(prices.tiers
          ? { tiers: prices.tiers.map((tier) => inline({ above: tier.above, ...priceTexts(tier) })) }
          : {}),
      },
    },
  ]) as never;
  commentBefore(document, 'prices', comments);
  return render(document);
}

/** One line, such as "{ input: '3', output: '15' }". */
export function renderStatedPrices(prices: StatedPrices): string {
  return renderPrices(statedPriceTexts(prices));
}

function commentBefore(document: Document, key: string, comments: readonly string[]): void {
  const entry = document.getIn([0], true);
  const pair = isMap(entry)
    ? entry.items.find(({ key: name }) => isScalar(name) && name.value === key)
    : undefined;
  const name = (pair as Pair<Scalar> | undefined)?.key;
  if (name) name.commentBefore = comments.map((line) => ` ${line}`).join('\n');
}

function render(document: Document): string {
  const text = document.toString({ lineWidth: 0, singleQuote: true });
  // Prettier's spaces: none in lists. No listed value contains a bracket.
  return text.replace(/^( *(?:capabilities|reasoning_efforts): )\[ (.*) \]$/gm, '$1[$2]');
}
