import {
  appendItem,
  CatalogueError,
  NotABlockList,
  publishedPricesOf,
  type FindPriceData,
} from '@gateway/inference-router';
import { readCatalogue } from './catalogue';
import { addressOf, newProviders, type ProviderFields } from './new-providers';
import type { AddOptions } from './options';
import { renderModel, renderStatedPrices, renderProvider } from './render-entry';

export interface PriceSource {
  readonly find: FindPriceData;
  readonly nearest: (baseUrl: string, providerModel: string, count: number) => readonly string[];
  /** Such as "@pydantic/genai-prices 0.1.8". */
  readonly name: string;
}

/** A message for the person who ran the command. */
export class CannotAdd extends Error {}

const NEAREST_MODELS = 5;

/**
 * Adds a model, and its provider unless it is there.
 *
 * @param text the models file; undefined if there is none yet.
 * @returns the new text, which the gateway's loader accepts, and lines for the person who ran the command.
 * @throws CannotAdd, or CatalogueError if the file is not valid.
 */
export function addModel(
  text: string | undefined,
  options: AddOptions,
  source: PriceSource,
  at: Date,
): { readonly text: string; readonly report: readonly string[] } {
  const id = `${options.provider}/${options.providerModel}`;
  const catalogue = text === undefined ? undefined : readCatalogue(text);
  if (catalogue?.models.has(id)) throw new CannotAdd(`The file has the model ${id} already.`);
  const provider = findProvider(options.provider, [...(catalogue?.providers.values() ?? [])]);
  const data = source.find(provider.baseUrl, options.providerModel);
  if (!data) throw new CannotAdd(unknownModel(options, provider.baseUrl, source));
  const result = publishedPricesOf(data.prices, at);
  if (!result.ok) {
    throw new CannotAdd(`${id} has no usable prices: ${result.reason}. Add it to the file by hand.`);
  }
  const { prices, notes, upcoming } = result.published;
  const contextWindow = options.contextWindow ?? data.contextWindow;
  const { maxOutputTokens, capabilities } = options;
  if (contextWindow === undefined || maxOutputTokens === undefined || capabilities === undefined) {
    throw new CannotAdd(missingOptions(id, { contextWindow, maxOutputTokens, capabilities }, data.source));
  }
  const model = renderModel({
    options: { ...options, capabilities },
    providerName: provider.name,
    displayName: data.displayName,
    contextWindow,
    prices,
    comments: [
      `Prices of ${source.name} on ${at.toISOString().slice(0, 10)}`,
      ...upcoming.map(({ from, prices: then }) => `From ${from}: ${renderStatedPrices(then)}`),
    ],
  });
  const added = withEntries(text, provider.added && renderProvider(provider.name, provider.added), model);
  requireValid(added);
  return {
    text: added,
    report: [
      ...(provider.added
        ? [`Added provider ${provider.name}. Its key is in ${provider.added.api_key_env}.`]
        : []),
      `Added model ${id}${data.model === options.providerModel ? '' : `, which the price data has as ${data.model}`}.`,
      ...notes.map((note) => `Not in models.yaml: ${note}`),
      ...upcoming.map(({ from }) => `Prices change on ${from}: change them in the file then.`),
      `Check limits and prices${data.source === undefined ? '' : ` at ${data.source}`}.`,
    ],
  };
}

interface FoundProvider {
  readonly name: string;
  readonly baseUrl: string;
  /** The fields of its entry, if the file does not have it yet. */
  readonly added?: ProviderFields;
}

/** A provider of the file by its name, else by its address, else one to add. */
function findProvider(
  name: string,
  existing: readonly { readonly name: string; readonly baseUrl: string }[],
): FoundProvider {
  const fields = newProviders[name];
  const found =
    existing.find((provider) => provider.name === name) ??
    existing.find(({ baseUrl }) => fields && new URL(baseUrl).host === new URL(addressOf(fields)).host);
  if (found) return { name: found.name, baseUrl: found.baseUrl };
  if (fields) return { name, baseUrl: addressOf(fields), added: fields };
  throw new CannotAdd(
    `The file has no provider "${name}". Add it by hand, or name one of ${Object.keys(newProviders).join(', ')}.`,
  );
}

function unknownModel({ provider, providerModel }: AddOptions, baseUrl: string, source: PriceSource): string {
  const nearest = source.nearest(baseUrl, providerModel, NEAREST_MODELS);
  if (nearest.length === 0) return `${source.name} does not know the provider at ${baseUrl}.`;
  return [
    `${source.name} does not know the model ${providerModel} of ${provider}. The nearest names:`,
    ...nearest.map((name) => `  ${provider}/${name}`),
  ].join('\n');
}

function missingOptions(id: string, given: Partial<AddOptions>, source: string | undefined): string {
  const missing = [
    ...(given.contextWindow === undefined ? ['--context-window N'] : []),
    ...(given.maxOutputTokens === undefined ? ['--max-output-tokens N'] : []),
    ...(given.capabilities === undefined ? ['--capabilities LIST'] : []),
  ];
  return [
    `The price data does not have everything that ${id} needs. Look it up${source === undefined ? '' : ` (${source})`} and add to the command:`,
    `  ${missing.join(' ')}`,
    'LIST has capabilities such as tools,vision,json_mode, or is "none".',
  ].join('\n');
}

/** Before the file is written, so that a running gateway never gets an entry that it refuses. */
function requireValid(text: string): void {
  try {
    readCatalogue(text);
  } catch (error) {
    if (!(error instanceof CatalogueError)) throw error;
    throw new CannotAdd(`The file stays as it is. With this entry, ${error.message}`);
  }
}

function withEntries(text: string | undefined, provider: string | undefined, model: string): string {
  if (text === undefined) return `providers:\n${indented(provider ?? '')}\nmodels:\n${indented(model)}`;
  try {
    const withProvider = provider === undefined ? text : appendItem(text, 'providers', provider);
    return appendItem(withProvider, 'models', model);
  } catch (error) {
    if (!(error instanceof NotABlockList)) throw error;
    throw new CannotAdd(`${error.message}. Add by hand:\n\n${provider ?? ''}${model}`);
  }
}

function indented(item: string): string {
  return item.replace(/^(?=.)/gm, '  ');
}
