import type { FoundImage } from '../rules/images';
import type { ChatMessage, ForwardedFields } from '../schema/checked-fields';
import type { ModelView, TokenCounter, UncountedInput } from '../types';
import { imageTokens } from './image-tokens';

const TOKENS_PER_MESSAGE = 3;
const TOKENS_PER_NAME = 1;
const TOKENS_OF_REPLY_START = 3;
const TOKENS_PER_TOOL = 10;
/** Signatures are base64 of encrypted reasoning. */
const CHARACTERS_PER_SIGNATURE_TOKEN = 4;

/** The inputs of the estimate of a request's input tokens. */
export function uncountedInput(
  body: ForwardedFields,
  images: readonly FoundImage[],
  model: ModelView,
): UncountedInput {
  const { texts, overhead } = countedParts(body);
  return {
    // One count for all texts, so that the counter knows the total work.
    text: texts.join('\n'),
    overheadTokens: overhead,
    parts: {
      images: images.length,
      imageTokens: images.reduce((sum, { image }) => sum + imageTokens(image, model.tokenCounting), 0),
      hasDefinitions: (body.tools ?? []).length > 0 || body.response_format?.json_schema !== undefined,
    },
  };
}

/**
 * The estimate of a request's input tokens, used for the context check, the
 * token limit and the held amount. Deterministic.
 *
 * @param owner - of the request, see TokenCounter.
 */
export function estimateInputTokens(
  input: UncountedInput,
  { tokenCounting }: ModelView,
  tokenCounter: TokenCounter,
  owner?: string,
): number | Promise<number> {
  const total = (textTokens: number): number =>
    Math.ceil((textTokens + input.overheadTokens) * tokenCounting.factor) + input.parts.imageTokens;
  const counted =
    typeof input.text === 'string'
      ? tokenCounter.count(input.text, tokenCounting.encoding, owner)
      : tokenCounter.countSize(input.text);
  return typeof counted === 'number' ? total(counted) : counted.then(total);
}

interface CountedParts {
  readonly texts: readonly string[];
  /** Tokens that the model's chat format adds. */
  readonly overhead: number;
}

function countedParts(fields: ForwardedFields): CountedParts {
  const texts: string[] = [];
  let overhead = TOKENS_OF_REPLY_START;
  for (const message of fields.messages) {
    overhead += TOKENS_PER_MESSAGE + (message.name === undefined ? 0 : TOKENS_PER_NAME);
    addMessageTexts(message, texts);
    overhead += signatureTokens(message);
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
  return { texts, overhead };
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
    });
  }
  message.tool_calls?.forEach(({ function: called }) => texts.push(called.name, called.arguments));
}

function signatureTokens({ reasoning_details: details = [], tool_calls: calls = [] }: ChatMessage): number {
  let characters = 0;
  for (const signed of [...details, ...calls.map((call) => call.extra_content)])
    if (signed !== undefined) characters += JSON.stringify(signed).length;
  return Math.ceil(characters / CHARACTERS_PER_SIGNATURE_TOKEN);
}
