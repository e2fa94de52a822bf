import { EventStreamCodec } from '@smithy/eventstream-codec';
import { chunkText, MODEL, PROMPT_TOKENS, UPSTREAM_MODEL } from '../canned';

/** The dialects of the gateway. OpenAI's is the baseline. */
export const benchDialects = ['openai', 'anthropic', 'gemini', 'converse'] as const;
export type BenchDialect = (typeof benchDialects)[number];

export const modelOf = (dialect: BenchDialect): string => (dialect === 'openai' ? MODEL : `bench/${dialect}`);

/** Requests to Bedrock depend on the vendor in the model's name. */
export const upstreamModelOf = (dialect: BenchDialect): string =>
  dialect === 'converse' ? `us.anthropic.${UPSTREAM_MODEL}` : UPSTREAM_MODEL;

/** The dialect of a streaming request, by its path. */
export function dialectOf(startLine: string): BenchDialect {
  if (startLine.includes('/messages ')) return 'anthropic';
  if (startLine.includes('/converse-stream ')) return 'converse';
  return startLine.includes(':streamGenerateContent') ? 'gemini' : 'openai';
}

/** A response with the same chunks as OpenAI's. Texts have one character per byte. */
interface CannedDialect {
  readonly contentType: string;
  events(chunks: number): string[];
}

const SSE = 'text/event-stream; charset=utf-8';

export const cannedDialects: Readonly<Record<Exclude<BenchDialect, 'openai'>, CannedDialect>> = {
  anthropic: { contentType: SSE, events: anthropicEvents },
  gemini: { contentType: SSE, events: geminiEvents },
  converse: { contentType: 'application/vnd.amazon.eventstream', events: converseEvents },
};

const texts = (chunks: number): string[] => Array.from({ length: chunks }, (_, index) => chunkText(index));

/** Events are padded, as those of the provider are, so that their length does not reveal that of the text. */
function anthropicEvents(chunks: number): string[] {
  const event = (type: string, fields: object, padding = 0) => {
    const data = JSON.stringify({ type, ...fields });
    return `event: ${type}\ndata: ${data.slice(0, -1)}${' '.repeat(padding)}}\n\n`;
  };
  const usage = {
    input_tokens: PROMPT_TOKENS,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
  };
  const message = { id: 'msg_bench', type: 'message', role: 'assistant', model: UPSTREAM_MODEL, content: [] };
  return [
    event('message_start', { message: { ...message, usage: { ...usage, output_tokens: 1 } } }),
    event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
    event('ping', {}),
    ...texts(chunks).map((text, index) =>
      event('content_block_delta', { index: 0, delta: { type: 'text_delta', text } }, (index * 7) % 16),
    ),
    event('content_block_stop', { index: 0 }),
    event('message_delta', {
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { ...usage, output_tokens: chunks },
    }),
    event('message_stop', {}),
  ];
}

/** Every event reports the tokens so far. */
function geminiEvents(chunks: number): string[] {
  const event = (text: string, tokens: number, more: object = {}) => {
    const candidate = { content: { parts: [{ text }], role: 'model' }, ...more, index: 0 };
    const usageMetadata = {
      promptTokenCount: PROMPT_TOKENS,
      candidatesTokenCount: tokens,
      totalTokenCount: PROMPT_TOKENS + tokens,
      promptTokensDetails: [{ modality: 'TEXT', tokenCount: PROMPT_TOKENS }],
    };
    const data = {
      candidates: [candidate],
      usageMetadata,
      modelVersion: UPSTREAM_MODEL,
      responseId: 'bench',
    };
    return `data: ${JSON.stringify(data)}\r\n\r\n`;
  };
  return [
    ...texts(chunks).map((text, index) => event(text, index + 1)),
    event('', chunks, { finishReason: 'STOP' }),
  ];
}

/** Frames, padded by the provider like Anthropic's events. */
function converseEvents(chunks: number): string[] {
  const codec = new EventStreamCodec(
    (bytes) => Buffer.from(bytes as Uint8Array).toString(),
    (text) => Buffer.from(text),
  );
  const padding = 'abcdefghijklmnopqrstuvwxyz';
  const event = (type: string, fields: object, index = 0) => {
    const names = { ':event-type': type, ':content-type': 'application/json', ':message-type': 'event' };
    const headers = Object.fromEntries(
      Object.entries(names).map(([name, value]) => [name, { type: 'string' as const, value }]),
    );
    const body = Buffer.from(JSON.stringify({ ...fields, p: padding.slice(0, (index * 7) % 26) }));
    return Buffer.from(codec.encode({ headers, body })).toString('latin1');
  };
  const usage = {
    inputTokens: PROMPT_TOKENS,
    outputTokens: chunks,
    totalTokens: PROMPT_TOKENS + chunks,
    cacheReadInputTokens: 0,
    cacheWriteInputTokens: 0,
  };
  return [
    event('messageStart', { role: 'assistant' }),
    ...texts(chunks).map((text, index) =>
      event('contentBlockDelta', { contentBlockIndex: 0, delta: { text } }, index),
    ),
    event('contentBlockStop', { contentBlockIndex: 0 }),
    event('messageStop', { stopReason: 'end_turn' }),
    event('metadata', { usage, metrics: { latencyMs: 1 } }),
  ];
}
