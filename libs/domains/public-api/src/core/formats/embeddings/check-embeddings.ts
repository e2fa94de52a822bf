import { wellFormedJson } from '@gateway/base';
import { isRefusal, type Refusal } from '@gateway/errors';
import { invalidValue } from '../../chat-completion/rules/field-values';
import { checkModelAllowed, modelNotFound } from '../../chat-completion/rules/model-access';
import { isEmbeddingModel, namedModel, readBody } from '../../chat-completion/rules/read-body';
import type {
  CallerPolicy,
  EmbeddingsInput,
  ModelView,
  UncountedChatRequest,
} from '../../chat-completion/types';
import type { JsonObject } from '../../json/json-value';
import { extraParameters } from '../request-format';
import { inputTooLong } from './count-embeddings';
import { embeddingsRequest } from './request';

/**
 * The most numbers of one response, in all embeddings together: 1,000 embeddings of 1,536 numbers. As base64 they fit
 * an event with a stored response, and as JSON numbers a response of a provider.
 */
const MAX_NUMBERS = 1_536_000;

/** Shorter texts are counted together; their length alone is checked by the provider. */
const LONG_TEXT_BYTES = 8_192;

/** A text or its tokens. */
type Input = string | number[];

interface EmbeddingsFields {
  readonly model: string;
  readonly input: Input | Input[];
  readonly dimensions?: number;
  readonly encoding_format?: 'float' | 'base64';
  readonly user?: string;
}

interface EmbeddingsRules {
  readonly policy: CallerPolicy;
  readonly findModel: (id: string) => ModelView | undefined;
}

/** All checks of a request for embeddings except those that need its token count, in the public order. */
export function checkEmbeddings(
  body: JsonObject,
  { policy, findModel }: EmbeddingsRules,
): UncountedChatRequest | Refusal {
  const model = namedModel(body, findModel, isEmbeddingModel);
  const copy = readBody(body, model, embeddingsRequest);
  if (isRefusal(copy)) return copy;
  // EmbeddingsFields mirrors the shapes of the schema.
  const fields = copy as unknown as EmbeddingsFields;
  if (!model) return modelNotFound(fields.model);
  const { inputs, pathOf } = inputsOf(fields.input);
  const refusal = checkModelAllowed(model, policy) ?? checkDimensions(fields, inputs.length, model);
  if (refusal) return refusal;
  const forwarded = {
    input: inputs,
    ...forwardedDimensions(fields, model),
    ...extraParameters(copy, embeddingsRequest.fieldsByName),
  };
  const tooLong = checkTokens({ inputs, pathOf }, model);
  if (tooLong) return tooLong;
  const { text, ...embeddings } = countedInput({ inputs, pathOf }, forwarded);
  return {
    modelId: model.id,
    stream: false,
    includeUsage: false,
    n: 1,
    bodyJson: Buffer.from(wellFormedJson(JSON.stringify(forwarded))),
    externalUser: fields.user,
    input: {
      text,
      overheadTokens: 0,
      parts: { images: 0, imageTokens: 0, hasDefinitions: false },
      embeddings,
    },
    isOutputVisible: false,
    isJson: false,
    cacheWrites: 'none',
    output: {},
    response: fields.encoding_format === 'base64' ? { encodingFormat: 'base64' } : {},
  };
}

interface Inputs {
  readonly inputs: readonly Input[];
  /** The path of an input in the request. */
  readonly pathOf: (index: number) => string;
}

function inputsOf(input: Input | Input[]): Inputs {
  return Array.isArray(input) && typeof input[0] !== 'number'
    ? { inputs: input as Input[], pathOf: (index) => `input[${index}]` }
    : { inputs: [input as Input], pathOf: () => 'input' };
}

function checkDimensions(
  { dimensions }: EmbeddingsFields,
  inputs: number,
  { embeddingDimensions = [] }: ModelView,
): Refusal | undefined {
  const length = dimensions ?? embeddingDimensions[0] ?? 0;
  if (!embeddingDimensions.includes(length))
    return invalidValue('dimensions', `this model supports ${embeddingDimensions.join(', ')}.`);
  const most = Math.floor(MAX_NUMBERS / length);
  return inputs > most
    ? invalidValue('input', `it may have at most ${most} items with embeddings of ${length} numbers.`)
    : undefined;
}

/** Models with one length may not know the field. Of the others, the default need not be that of the provider. */
function forwardedDimensions(
  { dimensions }: EmbeddingsFields,
  { embeddingDimensions = [] }: ModelView,
): { readonly dimensions?: number } {
  const [first] = embeddingDimensions;
  return first === undefined || embeddingDimensions.length === 1 ? {} : { dimensions: dimensions ?? first };
}

/** The tokens of a list are exact. */
function checkTokens({ inputs, pathOf }: Inputs, { contextLength }: ModelView): Refusal | undefined {
  const index = inputs.findIndex((input) => typeof input !== 'string' && input.length > contextLength);
  return index === -1 ? undefined : inputTooLong(pathOf(index), inputs[index]?.length ?? 0, contextLength);
}

/** @param forwarded whose extra parameters are counted, too. */
function countedInput(
  { inputs, pathOf }: Inputs,
  forwarded: object,
): EmbeddingsInput & { readonly text: string } {
  const texts: string[] = [];
  const longTexts: { path: string; text: string }[] = [];
  let tokens = 0;
  for (const [index, input] of inputs.entries()) {
    if (typeof input !== 'string') tokens += input.length;
    else if (Buffer.byteLength(input) <= LONG_TEXT_BYTES) texts.push(input);
    else longTexts.push({ path: pathOf(index), text: input });
  }
  for (const [name, value] of Object.entries(forwarded))
    if (name !== 'input' && name !== 'dimensions') texts.push(JSON.stringify(value));
  return { inputs: inputs.length, tokens, longTexts, text: texts.join('\n') };
}
