import { EventStreamCodec } from '@smithy/eventstream-codec';
import type { DialectName } from '../core/dialects/registry';

// What a recorded response costs, computed from its bytes alone: a second implementation that shares no code with the
// dialects. Vendors report sums so far, so the last count that is not zero is the total.

type Json = { readonly [key: string]: unknown };

export interface OracleUsage {
  readonly promptTokens: number;
  readonly cachedTokens: number;
  readonly cacheWriteTokens: number;
  readonly cacheWrite1hTokens: number;
  readonly imageTokens: number;
  readonly completionTokens: number;
  readonly reasoningTokens: number;
}

/** Nano-dollars of a million tokens of each kind. */
export interface OraclePrices {
  readonly input: bigint;
  readonly cached: bigint;
  readonly written: bigint;
  readonly written1h: bigint;
  readonly image: bigint;
  readonly output: bigint;
  readonly reasoning: bigint;
}

/** The usage of a complete response; undefined: it reports none. */
export function oracleUsage(dialect: DialectName, body: Buffer): OracleUsage | undefined {
  const found = usageBlocks[dialect](dialect === 'converse' ? framesOf(body) : documentsOf(body.toString()));
  return found.length === 0 ? undefined : readers[dialect]((path) => lastPositive(found, path), found);
}

/** Adds first and divides by the million last, rounded up. */
export function oracleCost(usage: OracleUsage, prices: OraclePrices): bigint {
  const { cachedTokens, cacheWriteTokens, cacheWrite1hTokens, imageTokens } = usage;
  const parts = cachedTokens + cacheWriteTokens + cacheWrite1hTokens + imageTokens;
  const total =
    BigInt(usage.promptTokens - parts) * prices.input +
    BigInt(cachedTokens) * prices.cached +
    BigInt(cacheWriteTokens) * prices.written +
    BigInt(cacheWrite1hTokens) * prices.written1h +
    BigInt(imageTokens) * prices.image +
    BigInt(usage.completionTokens - usage.reasoningTokens) * prices.output +
    BigInt(usage.reasoningTokens) * prices.reasoning;
  return (total + 999_999n) / 1_000_000n;
}

/** A response, or the data of the events of a stream. */
function documentsOf(text: string): readonly Json[] {
  if (text.trimStart().startsWith('{')) return [JSON.parse(text) as Json];
  return text
    .split(/\r?\n/)
    .filter((line) => line.startsWith('data:') && !line.includes('[DONE]'))
    .map((line) => JSON.parse(line.slice('data:'.length)) as Json);
}

/** Frames of an AWS event stream, read by the vendor's codec, or a response. */
function framesOf(body: Buffer): readonly Json[] {
  if (body.toString('utf8', 0, 1) === '{') return [JSON.parse(body.toString()) as Json];
  const utf8 = {
    toUtf8: (bytes: Uint8Array) => Buffer.from(bytes).toString(),
    fromUtf8: (text: string) => Buffer.from(text),
  };
  const codec = new EventStreamCodec(utf8.toUtf8, utf8.fromUtf8);
  const documents: Json[] = [];
  for (let at = 0; at < body.length; at += body.readUInt32BE(at)) {
    const frame = codec.decode(body.subarray(at, at + body.readUInt32BE(at)));
    documents.push(JSON.parse(Buffer.from(frame.body).toString()) as Json);
  }
  return documents;
}

const usageBlocks: Readonly<Record<DialectName, (documents: readonly Json[]) => readonly unknown[]>> = {
  openai: (documents) => documents.map(({ usage }) => usage).filter(isObject),
  // The output of `message_start` is a placeholder.
  anthropic: (documents) =>
    documents
      .flatMap(({ type, message, usage }) => {
        if (type !== 'message_start') return [usage];
        const first = isObject(message) ? message['usage'] : undefined;
        return isObject(first) ? [{ ...first, output_tokens: 0, output_tokens_details: {} }] : [];
      })
      .filter(isObject),
  gemini: (documents) =>
    documents
      .map(({ usageMetadata }) => usageMetadata)
      .filter((block) => isObject(block) && 'promptTokenCount' in block),
  converse: (documents) => documents.map(({ usage }) => usage).filter(isObject),
};

type Reader = (count: (path: string) => number, blocks: readonly unknown[]) => OracleUsage;

const readers: Readonly<Record<DialectName, Reader>> = {
  openai(count) {
    const [prompt, completion, total] = [
      count('prompt_tokens'),
      count('completion_tokens'),
      count('total_tokens'),
    ];
    const reasoning = count('completion_tokens_details.reasoning_tokens');
    const isExtra = reasoning > 0 && total === prompt + completion + reasoning;
    return {
      promptTokens: prompt,
      cachedTokens:
        count('prompt_tokens_details.cached_tokens') ||
        count('cached_tokens') ||
        count('prompt_cache_hit_tokens'),
      cacheWriteTokens: count('prompt_tokens_details.cache_write_tokens'),
      cacheWrite1hTokens: 0,
      imageTokens: count('prompt_tokens_details.image_tokens'),
      completionTokens: isExtra ? completion + reasoning : completion,
      reasoningTokens: reasoning,
    };
  },
  anthropic(count) {
    const [read, hour] = [
      count('cache_read_input_tokens'),
      count('cache_creation.ephemeral_1h_input_tokens'),
    ];
    const written =
      count('cache_creation_input_tokens') || count('cache_creation.ephemeral_5m_input_tokens') + hour;
    return {
      promptTokens: count('input_tokens') + read + written,
      cachedTokens: read,
      cacheWriteTokens: written - hour,
      cacheWrite1hTokens: hour,
      imageTokens: 0,
      completionTokens: count('output_tokens'),
      reasoningTokens: count('output_tokens_details.thinking_tokens'),
    };
  },
  gemini(count, blocks) {
    const images = (list: string) =>
      Math.max(0, ...blocks.map((block) => sumOf(block, list, 'modality', 'IMAGE', 'tokenCount')));
    const thoughts = count('thoughtsTokenCount');
    return {
      promptTokens: count('promptTokenCount') + count('toolUsePromptTokenCount'),
      cachedTokens: count('cachedContentTokenCount'),
      cacheWriteTokens: 0,
      cacheWrite1hTokens: 0,
      imageTokens: Math.max(0, images('promptTokensDetails') - images('cacheTokensDetails')),
      completionTokens: count('candidatesTokenCount') + thoughts,
      reasoningTokens: thoughts,
    };
  },
  converse(count, blocks) {
    const [read, written] = [count('cacheReadInputTokens'), count('cacheWriteInputTokens')];
    const hour = Math.max(
      0,
      ...blocks.map((block) => sumOf(block, 'cacheDetails', 'ttl', '1h', 'inputTokens')),
    );
    return {
      promptTokens: count('inputTokens') + read + written,
      cachedTokens: read,
      cacheWriteTokens: written - hour,
      cacheWrite1hTokens: hour,
      imageTokens: 0,
      completionTokens: count('outputTokens'),
      reasoningTokens: 0,
    };
  },
};

function lastPositive(blocks: readonly unknown[], path: string): number {
  const counts = blocks.map((block) =>
    path.split('.').reduce<unknown>((found, step) => (isObject(found) ? found[step] : 0), block),
  );
  return Number(counts.findLast((count) => typeof count === 'number' && count > 0) ?? 0);
}

function sumOf(block: unknown, list: string, key: string, wanted: string, count: string): number {
  const entries = isObject(block) ? block[list] : undefined;
  if (!Array.isArray(entries)) return 0;
  return entries
    .filter((entry) => isObject(entry) && entry[key] === wanted)
    .reduce((sum: number, entry: Json) => sum + Number(entry[count]), 0);
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
