import { readDirectives, splitModelName } from '../directives';
import { badRequest, contextLengthExceeded } from '../errors';
import { isObject } from '../json-schema';
import type { ChatRequest } from '../request';
import { countTokens } from '../tokens';
import type { WireRequest } from '../wire-format';
import { type EmbeddingModel, embeddingModel, withoutChat } from './models';

type Fields = { readonly [key: string]: unknown };

/** The most tokens of one request. */
const MAX_TOKENS = 300_000;

/** What all protocols read. */
interface ReadEmbeddings {
  readonly modelName: string;
  readonly model: EmbeddingModel;
  readonly suffixes: readonly string[];
  /** Texts, or lists of tokens. */
  readonly inputs: readonly (string | readonly number[])[];
  /** Undefined: the model's default. */
  readonly dimensions: unknown;
  readonly encoding?: 'float' | 'base64';
}

/** @param vendor whether the name has the vendor's in front, such as "amazon.". */
export function readModel(modelName: string, vendor = false): Pick<ReadEmbeddings, 'model' | 'suffixes'> {
  const { id, directives: suffixes } = splitModelName(modelName);
  return { model: embeddingModel(vendor ? id.replace(/^.*[./]/, '') : id), suffixes };
}

/** The request, after the checks of models and inputs that providers share. */
export function embeddingsRequest(
  {
    modelName,
    model,
    suffixes,
    inputs,
    dimensions = model.dimensions[0],
    encoding = 'float',
  }: ReadEmbeddings,
  { faultHeader }: Pick<WireRequest, 'faultHeader'>,
): ChatRequest {
  const parts = inputs.map((input) => ({
    text: typeof input === 'string' ? input : input.join(),
    tokens: typeof input === 'string' ? countTokens(input) : input.length,
  }));
  for (const { text, tokens } of parts) {
    if (text === '') throw badRequest('input cannot be an empty string', 'input');
    if (tokens > model.maxTokens) throw contextLengthExceeded(model.maxTokens, tokens, 0);
  }
  const tokens = parts.reduce((sum, part) => sum + part.tokens, 0);
  if (tokens > MAX_TOKENS)
    throw badRequest(`Requested ${tokens} tokens, max ${MAX_TOKENS} tokens per request`, 'input');
  if (typeof dimensions !== 'number' || !model.dimensions.includes(dimensions))
    throw badRequest(`Invalid value for 'dimensions': ${String(dimensions)}.`, 'dimensions', 'invalid_value');
  const lastUserText = parts.at(-1)?.text ?? '';
  const directives = readDirectives({ modelSuffixes: suffixes, faultHeader, lastUserText });
  return {
    modelName,
    model: withoutChat(model),
    question: '',
    directives,
    prompt: { tokens, parts, images: [], pages: 0, lastUserText, endsWithToolResult: false },
    stream: false,
    includeUsage: false,
    maxTokens: undefined,
    stop: [],
    n: 1,
    seed: 0,
    tools: [],
    toolsText: '',
    toolChoice: { kind: 'none' },
    parallelToolCalls: false,
    responseFormat: { kind: 'text' },
    reasoningEffort: undefined,
    logprobs: false,
    topLogprobs: 0,
    embeddings: { dimensions, encoding },
  };
}

/** Other fields are rejected, which reveals fields that a gateway must not forward. */
export function knownFields(value: unknown, names: readonly string[]): Fields {
  if (!isObject(value)) throw badRequest(`Invalid JSON payload received: expected an object.`);
  for (const name in value)
    if (!names.includes(name)) throw badRequest(`Unknown parameter: '${name}'.`, name, 'unknown_parameter');
  return value;
}

export function listOf(value: unknown, name: string, most: number): readonly unknown[] {
  if (!Array.isArray(value) || value.length === 0 || value.length > most)
    throw badRequest(`Invalid '${name}': expected an array of 1 to ${most} items.`, name);
  return value;
}

export function textOf(value: unknown, name: string): string {
  if (typeof value !== 'string') throw badRequest(`Invalid '${name}': expected a string.`, name);
  return value;
}
