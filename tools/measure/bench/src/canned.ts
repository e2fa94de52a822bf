/** Canned responses, shared by the upstream, which sends them, and the load generator, which checks them. ASCII only. */

export const MODEL = 'bench/echo';
/** The upstream's name of the model, to which the gateway maps MODEL. */
export const UPSTREAM_MODEL = 'echo-1';
export const STREAM_CHUNKS = 100;
export const RESPONSE_TEXT = Array.from({ length: 40 }, (_, index) => `word${index}`).join(' ');
const PROMPT_TOKENS = 24;

/** Marks a prompt that requests a slow stream. */
const SLOW_MARK = 'bench-slow-';
/** Slow streams send chunks at multiples of this interval. */
export const TICK_MS = 100;

export interface SlowStream {
  readonly chunks: number;
  /** Interval between chunks, in ticks. */
  readonly everyTicks: number;
}

export function slowPrompt({ chunks, everyTicks }: SlowStream): string {
  return `${SLOW_MARK}${chunks}-${everyTicks} please.`;
}

/** The slow stream that the prompt requests; undefined if it requests none. */
export function slowStreamIn(request: string): SlowStream | undefined {
  const mark = request.indexOf(SLOW_MARK);
  if (mark < 0) return undefined;
  const [chunks, everyTicks] = request
    .slice(mark + SLOW_MARK.length, mark + SLOW_MARK.length + 20)
    .split('-');
  return { chunks: Number.parseInt(chunks ?? '', 10), everyTicks: Number.parseInt(everyTicks ?? '', 10) };
}

/** The text of chunk `index`, unique so that a lost or duplicate chunk is detected. */
export function chunkText(index: number): string {
  return ` tok${index}`;
}

export type Kind = 'non-streaming' | 'stream';

/** The request body of a client. */
export function requestBody(
  kind: Kind,
  prompt = 'Please say something that is neither long nor short.',
): string {
  return JSON.stringify({
    model: MODEL,
    messages: [
      { role: 'system', content: 'You are a helpful assistant.' },
      { role: 'user', content: prompt },
    ],
    temperature: 0.7,
    max_tokens: 128,
    ...(kind === 'stream' ? { stream: true, stream_options: { include_usage: true } } : {}),
  });
}

function usage(completionTokens: number): string {
  return (
    `{"prompt_tokens":${PROMPT_TOKENS},"completion_tokens":${completionTokens},` +
    `"total_tokens":${PROMPT_TOKENS + completionTokens},"prompt_tokens_details":{"cached_tokens":0},` +
    `"completion_tokens_details":{"reasoning_tokens":0}}`
  );
}

/** The upstream's non-streaming response. */
export function nonStreamingBody(): string {
  return (
    `{"id":"chatcmpl-bench","object":"chat.completion","created":1764000000,"model":"${UPSTREAM_MODEL}",` +
    `"choices":[{"index":0,"message":{"role":"assistant","content":"${RESPONSE_TEXT}","refusal":null},"logprobs":null,` +
    `"finish_reason":"stop"}],"usage":${usage(40)},"system_fingerprint":"fp_bench"}`
  );
}

/** The SSE events of a stream, including `[DONE]`. */
export function streamEvents(chunks: number, includeUsage: boolean): string[] {
  const usageKey = includeUsage ? ',"usage":null' : '';
  const event = (choices: string, last: string) =>
    `data: {"id":"chatcmpl-bench","object":"chat.completion.chunk","created":1764000000,` +
    `"model":"${UPSTREAM_MODEL}","system_fingerprint":"fp_bench","choices":[${choices}]${last}}\n\n`;
  const choice = (delta: string, finish: string) =>
    `{"index":0,"delta":${delta},"logprobs":null,"finish_reason":${finish}}`;
  const events = [event(choice('{"role":"assistant","content":""}', 'null'), usageKey)];
  for (let index = 0; index < chunks; index++) {
    events.push(event(choice(`{"content":"${chunkText(index)}"}`, 'null'), usageKey));
  }
  events.push(event(choice('{}', '"stop"'), usageKey));
  if (includeUsage) events.push(event('', `,"usage":${usage(chunks)}`));
  events.push('data: [DONE]\n\n');
  return events;
}
