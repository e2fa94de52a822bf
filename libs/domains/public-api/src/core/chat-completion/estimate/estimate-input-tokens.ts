import type { JobCaller } from '@gateway/base';
import type { JsonObject } from '../../json/json-value';
import type { FoundImage } from '../rules/images';
import { isExtraParameter } from '../rules/unknown-parameter';
import type { ChatMessage, ForwardedFields } from '../schema/checked-fields';
import type { ModelView, TokenCounter, UncountedDocument, UncountedInput } from '../types';
import { imageTokens } from './image-tokens';

const TOKENS_PER_MESSAGE = 3;
const TOKENS_PER_NAME = 1;
const TOKENS_OF_REPLY_START = 3;
const TOKENS_PER_TOOL = 10;
/** What vendors write around a tool call, and around its result. */
const TOKENS_PER_CALL = 8;
/** The bytes per token of signatures, which are base64 of encrypted reasoning, and of ids made of them. */
const BYTES_PER_OPAQUE_TOKEN = 4;

/** The parts of a request whose data is not text. */
export interface InlineParts {
  readonly images: readonly FoundImage[];
  readonly documents: readonly UncountedDocument[];
}

/** The inputs of the estimate of a request's input tokens. */
export function uncountedInput(
  body: JsonObject & ForwardedFields,
  { images, documents }: InlineParts,
  model: ModelView,
): UncountedInput {
  const { texts, overhead } = countedParts(body, model);
  return {
    // One count for all texts, so that the counter knows the total work.
    text: texts.join('\n'),
    overheadTokens: overhead,
    parts: {
      images: images.length,
      imageTokens: images.reduce((sum, { image }) => sum + imageTokens(image, model.tokenCounting), 0),
      hasDefinitions: (body.tools ?? []).length > 0 || body.response_format?.json_schema !== undefined,
    },
    ...(documents.length === 0 ? {} : { documents }),
  };
}

/**
 * The estimate of a request's input tokens, used for the context check, the
 * token limit and the held amount. Deterministic.
 *
 * @param caller - see TokenCounter.
 */
export function estimateInputTokens(
  input: UncountedInput,
  { tokenCounting }: ModelView,
  tokenCounter: TokenCounter,
  caller?: JobCaller,
): number | Promise<number> {
  const total = (textTokens: number): number =>
    Math.ceil((textTokens + input.overheadTokens) * tokenCounting.factor) + input.parts.imageTokens;
  const counted =
    typeof input.text === 'string'
      ? tokenCounter.count(input.text, tokenCounting.encoding, caller)
      : tokenCounter.countSize(input.text);
  return typeof counted === 'number' ? total(counted) : counted.then(total);
}

interface CountedParts {
  readonly texts: readonly string[];
  /** Tokens that the model's chat format adds. */
  readonly overhead: number;
}

/** Every text of the body that a dialect writes, as often as it writes it. */
function countedParts(fields: JsonObject & ForwardedFields, model: ModelView): CountedParts {
  const texts: string[] = [];
  let overhead = TOKENS_OF_REPLY_START;
  let opaqueBytes = 0;
  let names: Map<string, string> | undefined;
  for (const message of fields.messages) {
    overhead += TOKENS_PER_MESSAGE + (message.name === undefined ? 0 : TOKENS_PER_NAME);
    addMessageTexts(message, texts);
    opaqueBytes += signatureBytes(message, texts);
    for (const call of message.tool_calls ?? []) {
      overhead += TOKENS_PER_CALL;
      opaqueBytes += Buffer.byteLength(call.id);
      names ??= new Map();
      names.set(call.id, call.function.name);
    }
    if (message.tool_call_id !== undefined) {
      overhead += TOKENS_PER_CALL;
      opaqueBytes += Buffer.byteLength(message.tool_call_id);
      // Some dialects name the function with each of its results.
      const name = names?.get(message.tool_call_id);
      if (name !== undefined) texts.push(name);
    }
  }
  for (const tool of fields.tools ?? []) {
    overhead += TOKENS_PER_TOOL;
    texts.push(JSON.stringify(tool));
  }
  const schema = fields.response_format?.json_schema;
  if (schema !== undefined) texts.push(JSON.stringify(schema));
  const prediction = fields.prediction?.content;
  if (typeof prediction === 'string') texts.push(prediction);
  else prediction?.forEach((part) => texts.push(part.text));
  for (const name of model.extraParameters) {
    const value = isExtraParameter(name, model) ? fields[name] : undefined;
    if (typeof value === 'string' || typeof value === 'object') texts.push(JSON.stringify(value));
  }
  return { texts, overhead: overhead + Math.ceil(opaqueBytes / BYTES_PER_OPAQUE_TOKEN) };
}

function addMessageTexts(message: ChatMessage, texts: string[]): void {
  if (message.name !== undefined) texts.push(message.name);
  if (message.refusal !== undefined) texts.push(message.refusal);
  if (message.reasoning_content !== undefined) texts.push(message.reasoning_content);
  if (typeof message.content === 'string') texts.push(message.content);
  else {
    message.content?.forEach((part) => {
      if (part.type === 'text') texts.push(part.text);
      if (part.type === 'refusal') texts.push(part.refusal);
      if (part.type === 'file') texts.push(part.file.filename);
    });
  }
  message.tool_calls?.forEach(({ function: called }) => texts.push(called.name, called.arguments));
}

/** Readable reasoning counts as text. */
function signatureBytes(
  { reasoning_details: details = [], tool_calls: calls = [] }: ChatMessage,
  texts: string[],
): number {
  let bytes = 0;
  for (const { text, ...signed } of details) {
    if (text !== undefined) texts.push(typeof text === 'string' ? text : JSON.stringify(text));
    bytes += Buffer.byteLength(JSON.stringify(signed));
  }
  for (const { extra_content: extra } of calls)
    if (extra !== undefined) bytes += Buffer.byteLength(JSON.stringify(extra));
  return bytes;
}
