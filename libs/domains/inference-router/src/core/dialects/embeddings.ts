import type { JsonObject } from '../completion/json';
import type { EncodeCall, ProviderError } from './dialect';
import { refusedValue } from './failures';

/** The part of a call on which its encoding depends. */
export type EmbeddingsCall = Pick<EncodeCall, 'providerModel' | 'options'>;

/** A text or its tokens. */
export type EmbeddingInput = string | readonly number[];

/** A part of a request: some of its inputs, with its other fields. */
export interface EmbeddingsRequest {
  readonly input: readonly EmbeddingInput[];
  readonly dimensions: number | undefined;
  /** Of the model, see `extra_parameters`. */
  readonly extra: JsonObject;
}

/** How the embeddings of a family of providers are requested and read. Errors are those of the dialect. Pure. */
export interface EmbeddingsProtocol {
  /** Why a model cannot be called; undefined if it can. Checked when the catalogue is loaded. */
  problemOf?(call: EmbeddingsCall): string | undefined;
  /** The path and query of a call, below the provider's address. */
  path(call: EmbeddingsCall): string;
  /** The most inputs of one call; the others are sent in further calls. */
  maxInputs(call: EmbeddingsCall): number;
  /** @throws UpstreamFailure `rejected`, with a public message, for a request that the provider has no form for. */
  encode(request: EmbeddingsRequest, call: EmbeddingsCall): object;
  /** @param header of the response, by lower-case name. */
  read(response: JsonObject, header: (name: string) => string | undefined): ReadEmbeddings;
}

export interface ReadEmbeddings {
  /** The provider reports a failure instead of embeddings. */
  readonly error?: ProviderError;
  /** In the order of the inputs: lists of numbers, or base64 of little-endian 32-bit floats. */
  readonly embeddings: readonly unknown[];
  /** Undefined: not reported. */
  readonly promptTokens: number | undefined;
}

/** The inputs of a provider that has its own tokens. */
export function textsOf(input: readonly EmbeddingInput[]): readonly string[] {
  return input.map((each, index) => {
    if (typeof each === 'string') return each;
    throw refusedValue(`input[${index}]`, 'the model accepts texts, not tokens.');
  });
}

/** The extra parameters that a protocol knows, by its own names. Refuses others, whose effect would be lost. */
export function renamedExtra(extra: JsonObject, names: Readonly<Record<string, string>>): JsonObject {
  return Object.fromEntries(
    Object.entries(extra).map(([name, value]) => {
      const theirs = Object.hasOwn(names, name) ? names[name] : undefined;
      if (theirs === undefined) throw refusedValue(name, 'the model does not support it.');
      return [theirs, value];
    }),
  );
}

export function tokenCount(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}
