import type { DialectName } from '../core/dialects/registry';
import { eventFrame, exceptionFrame } from './event-stream-frames';
import { chunk, DONE, sse, usageChunk } from './scripted-provider';

/** The bytes of a stream with the text "Hello world", 10 input and 2 output tokens, in the protocol of one dialect. */
export interface CannedStream {
  readonly contentType: string;
  /** What precedes the text. */
  readonly start: Buffer;
  /** One event with this text. */
  text(text: string): Buffer;
  /** From the end of the text on, without usage. */
  readonly finish: Buffer;
  /** The same, with usage. */
  readonly finishWithUsage: Buffer;
  /** An event that reports a failure. */
  readonly error: Buffer;
}

const SSE = 'text/event-stream';

const named = (...events: { readonly type: string }[]) =>
  Buffer.from(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''));
const plain = (...events: object[]) => Buffer.from(sse(...events));

const stopped = (usage: object = {}) =>
  named(
    { type: 'content_block_stop', ...{ index: 0 } },
    { type: 'message_delta', ...{ delta: { stop_reason: 'end_turn', stop_sequence: null }, ...usage } },
    { type: 'message_stop' },
  );

const candidate = (text: string, more: object = {}) => ({
  candidates: [{ content: { role: 'model', parts: [{ text }] }, index: 0, ...more }],
});

const converseEnd = (metadata: object) =>
  Buffer.concat([
    eventFrame('contentBlockStop', { contentBlockIndex: 0 }),
    eventFrame('messageStop', { stopReason: 'end_turn' }),
    eventFrame('metadata', { metrics: { latencyMs: 1 }, ...metadata }),
  ]);

export const cannedStreams: Readonly<Record<DialectName, CannedStream>> = {
  openai: {
    contentType: SSE,
    start: plain(chunk({ role: 'assistant', content: '' })),
    text: (text) => plain(chunk({ content: text })),
    finish: Buffer.from(sse(chunk({}, 'stop')) + DONE),
    finishWithUsage: Buffer.from(sse(chunk({}, 'stop'), usageChunk(10, 2)) + DONE),
    error: plain({ error: { message: 'boom', type: 'server_error' } }),
  },
  anthropic: {
    contentType: SSE,
    start: named(
      { type: 'message_start', ...{ message: { id: 'msg_1', content: [], role: 'assistant' } } },
      { type: 'content_block_start', ...{ index: 0, content_block: { type: 'text', text: '' } } },
    ),
    text: (text) =>
      named({ type: 'content_block_delta', ...{ index: 0, delta: { type: 'text_delta', text } } }),
    finish: stopped(),
    finishWithUsage: stopped({ usage: { input_tokens: 10, output_tokens: 2 } }),
    error: named({ type: 'error', ...{ error: { type: 'api_error', message: 'boom' } } }),
  },
  gemini: {
    contentType: SSE,
    start: Buffer.alloc(0),
    text: (text) => plain(candidate(text)),
    finish: plain(candidate('', { finishReason: 'STOP' })),
    finishWithUsage: plain({
      ...candidate('', { finishReason: 'STOP' }),
      usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 2, totalTokenCount: 12 },
    }),
    error: plain({ error: { code: 500, message: 'boom', status: 'INTERNAL' } }),
  },
  converse: {
    contentType: 'application/vnd.amazon.eventstream',
    start: eventFrame('messageStart', { role: 'assistant' }),
    text: (text) => eventFrame('contentBlockDelta', { contentBlockIndex: 0, delta: { text } }),
    finish: converseEnd({}),
    finishWithUsage: converseEnd({ usage: { inputTokens: 10, outputTokens: 2, totalTokens: 12 } }),
    error: exceptionFrame('internalServerException', { message: 'boom' }),
  },
};
