import { dialects, type DialectName } from '../../core/dialects/registry';
import type { TargetOptions } from '../../core/dialects/dialect';

/** What a model does with its input. */
export const modelKinds = ['chat', 'embedding'] as const;

/** Stands for the output limit of embedding models, which have none. */
const NO_OUTPUT_TOKENS = 1;

type Fields = Readonly<Record<string, unknown>>;

/** The document with the fields that embedding models do not have, so that one schema fits both kinds. */
export function withEmbeddingDefaults(document: unknown): unknown {
  if (!isObject(document) || !Array.isArray(document['models'])) return document;
  return { ...document, models: document['models'].map(withDefaults) };
}

function withDefaults(model: unknown): unknown {
  if (!isObject(model) || model['kind'] !== 'embedding') return model;
  const { targets, prices, price_changes: changes } = model;
  return {
    max_output_tokens: NO_OUTPUT_TOKENS,
    ...model,
    ...(isObject(prices) && { prices: free(prices) }),
    ...(Array.isArray(changes) && { price_changes: changes.map(free) }),
    ...(Array.isArray(targets) && {
      targets: targets.map((target: unknown) =>
        isObject(target) && isObject(target['cost']) ? { ...target, cost: free(target['cost']) } : target,
      ),
    }),
  };
}

/** Prices without one of output. */
function free(prices: unknown): unknown {
  if (!isObject(prices)) return prices;
  const { tiers } = prices;
  return { output: '0', ...prices, ...(Array.isArray(tiers) && { tiers: tiers.map(free) }) };
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

interface Prices {
  readonly output: bigint;
  readonly tiers?: readonly { readonly output: bigint }[] | undefined;
}

/** A model with a valid shape. */
interface KindOfModel {
  readonly kind: (typeof modelKinds)[number];
  readonly dimensions?: readonly number[] | undefined;
  readonly max_output_tokens: number;
  readonly capabilities: readonly string[];
  readonly prices: Prices;
  readonly price_changes?: readonly Prices[] | undefined;
}

/** The fields that do not belong to the kind of a model, with their problem. */
export function problemsOfKind(model: KindOfModel): readonly (readonly [field: string, problem: string])[] {
  const { kind, dimensions, max_output_tokens: outputTokens, capabilities, prices } = model;
  if (kind === 'chat') return dimensions === undefined ? [] : [['dimensions', 'needs "kind: embedding"']];
  const { price_changes: changes = [] } = model;
  const hasOutputPrice = [prices, ...changes].some((each) =>
    [each, ...(each.tiers ?? [])].some(({ output }) => output > 0n),
  );
  const problems: (readonly [string, string] | false)[] = [
    dimensions === undefined && ['dimensions', 'is required: an embedding model needs dimensions'],
    outputTokens !== NO_OUTPUT_TOKENS && ['max_output_tokens', 'is not for embedding models'],
    capabilities.length > 0 && ['capabilities', 'is not for embedding models'],
    hasOutputPrice && ['prices', 'has a price of output, which embedding models do not have'],
  ];
  return problems.filter((problem) => problem !== false);
}

/** Why a target makes no embeddings; undefined if it does. */
export function problemOfEmbeddings(
  dialect: DialectName,
  providerModel: string,
  options: TargetOptions,
): { readonly field: 'provider' | 'model'; readonly problem: string } | undefined {
  const { embeddings } = dialects[dialect];
  if (!embeddings) return { field: 'provider', problem: `its dialect ${dialect} has no embeddings` };
  const problem = embeddings.problemOf?.({ providerModel, options });
  return problem === undefined ? undefined : { field: 'model', problem };
}
