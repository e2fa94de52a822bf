import type { JobCaller } from '@gateway/base';
import { refuse, type Refusal } from '@gateway/errors';
import { invalidValue } from '../../chat-completion/rules/field-values';
import type {
  EmbeddingsInput,
  ModelView,
  TextSize,
  TokenCounter,
  UncountedChatRequest,
  ValidatedChatRequest,
} from '../../chat-completion/types';
import { validated } from '../../chat-completion/validated-request';

/** The most tokens of one request, in all inputs together. */
const MAX_TOKENS = 300_000;

/** Many embedding models mark the start and the end of each input. */
const TOKENS_PER_INPUT = 2;

/** Counts the inputs and makes the last checks: the context length of each, and their sum. */
export function countEmbeddings(
  uncounted: UncountedChatRequest,
  model: ModelView,
  tokenCounter: TokenCounter,
  caller: JobCaller | undefined,
): ValidatedChatRequest | Refusal | Promise<ValidatedChatRequest | Refusal> {
  const { text, embeddings } = uncounted.input;
  if (!embeddings) throw new Error('a request for embeddings without inputs');
  const { encoding, factor } = model.tokenCounting;
  const count = (each: string | TextSize) =>
    typeof each === 'string' ? tokenCounter.count(each, encoding, caller) : tokenCounter.countSize(each);
  const finish = (textTokens: number) => {
    const marks = embeddings.inputs * TOKENS_PER_INPUT;
    const tokens = Math.ceil((textTokens + marks) * factor) + embeddings.tokens;
    return checkSum(tokens) ?? validated(uncounted, model, tokens, 0);
  };
  const short = text === '' ? 0 : count(text);
  if (embeddings.longTexts.length === 0)
    return typeof short === 'number' ? finish(short) : short.then(finish);
  return countLong(embeddings, model, count, short).then((long) =>
    typeof long === 'number' ? finish(long) : long,
  );
}

/** One after the other, so that the many texts of one request do not occupy the counter. */
async function countLong(
  { longTexts }: EmbeddingsInput,
  { contextLength, tokenCounting: { factor } }: ModelView,
  count: (text: string | TextSize) => number | Promise<number>,
  short: number | Promise<number>,
): Promise<number | Refusal> {
  let sum = await short;
  for (const { path, text } of longTexts) {
    const counted = await count(text);
    const tokens = Math.ceil(counted * factor);
    if (tokens > contextLength) return inputTooLong(path, tokens, contextLength);
    sum += counted;
    const refusal = checkSum(Math.ceil(sum * factor));
    if (refusal) return refusal;
  }
  return sum;
}

function checkSum(tokens: number): Refusal | undefined {
  return tokens > MAX_TOKENS
    ? invalidValue('input', `it may have at most ${MAX_TOKENS} tokens in all, and has ${tokens} or more.`)
    : undefined;
}

/** Client libraries recognize this error by the start of its text. */
export function inputTooLong(path: string, tokens: number, limit: number): Refusal {
  return refuse('context_length_exceeded', {
    message:
      `This model's maximum context length is ${limit} tokens. However, you requested ${tokens} tokens in '${path}'. ` +
      'Please reduce its length.',
    param: path,
    metadata: { estimated_tokens: tokens, limit },
  });
}
