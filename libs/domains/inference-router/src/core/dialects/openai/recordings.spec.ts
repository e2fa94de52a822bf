import { extractUsage, findProvider } from '@pydantic/genai-prices';
import { assemble } from '../../../testing/assemble';
import { recordingsOf, type Recording } from '../../../testing/recordings/recordings';
import { asObject, parseJson, type JsonObject } from '../../completion/json';
import { SseParser } from '../../framing/sse-parser';
import type { DecodedEvent } from '../dialect';
import { openai } from '.';

const recordings = recordingsOf('openai');
const streams = recordings.filter(({ isStream }) => isStream);

function eventsOf(bytes: Buffer, bytesPerPush = bytes.length): string[] {
  const parser = new SseParser();
  const events: string[] = [];
  for (let at = 0; at < bytes.length; at += bytesPerPush) {
    events.push(...parser.push(bytes.subarray(at, at + bytesPerPush)));
  }
  return [...events, ...parser.end()];
}

function decodeAll(events: readonly string[]): DecodedEvent[] {
  const decoder = openai.createDecoder(1);
  return events.map((event) => decoder.decode(event));
}

function completionOf({ isStream, body, bytes }: Recording) {
  if (isStream) return assemble(decodeAll(eventsOf(bytes)));
  return assemble([openai.readResponse(asObject(parseJson(body)) as JsonObject, 1)]);
}

/** The response, or the last chunk of a stream, that has usage. */
function withUsage({ isStream, body, bytes }: Recording): JsonObject | undefined {
  const bodies = isStream ? eventsOf(bytes) : [body];
  return bodies
    .map((text) => asObject(parseJson(text)) ?? {})
    .findLast((chunk) => asObject(chunk['usage']) !== undefined);
}

describe('recorded responses in the protocol of OpenAI', () => {
  it('exist for streams and responses', () => {
    expect(streams.length).toBeGreaterThanOrEqual(2);
    expect(recordings.length).toBeGreaterThanOrEqual(5);
  });

  it.each(streams)('are decoded alike for any cut of the stream: $name', ({ bytes }) => {
    const whole = eventsOf(bytes);
    expect(eventsOf(bytes, 1)).toEqual(whole);
    expect(decodeAll(whole).filter(({ done }) => done)).toHaveLength(1);
  });

  it.each(recordings)('have output, a finish reason and readable tool calls: $name', (recording) => {
    const { content, reasoning, toolCalls, finishReason } = completionOf(recording);
    expect(content !== '' || reasoning !== '' || toolCalls.length > 0).toBe(true);
    expect(finishReason).toMatch(/^(stop|length|tool_calls|content_filter)$/);
    if (finishReason === 'tool_calls') expect(toolCalls).not.toEqual([]);
    for (const call of toolCalls) {
      expect(call).toMatchObject({ id: expect.stringMatching(/./), name: expect.stringMatching(/./) });
      expect(JSON.parse(call.arguments)).toEqual(expect.any(Object));
    }
  });

  it.each(recordings)('have the usage of the oracle: $name', (recording) => {
    const { usage } = completionOf(recording);
    const response = withUsage(recording);
    if (!response) {
      expect(usage).toBeUndefined();
      return;
    }
    // Grok reports reasoning in addition to completion tokens; the oracle knows that of its provider only.
    const providerId = String(response['model']).startsWith('grok') ? 'x-ai' : 'openai';
    const provider = findProvider({ providerId });
    if (!provider) throw new Error(`the oracle does not know ${providerId}`);
    const oracle = extractUsage(provider, response, 'chat').usage as Readonly<Record<string, number>>;
    expect({
      prompt: usage?.promptTokens,
      cached: usage?.cachedTokens ?? 0,
      written: usage?.cacheWriteTokens ?? 0,
      completion: usage?.completionTokens,
      reasoning: usage?.reasoningTokens ?? 0,
    }).toEqual({
      prompt: oracle['input_tokens'],
      cached: oracle['cache_read_tokens'] ?? 0,
      written: oracle['cache_write_tokens'] ?? 0,
      completion: oracle['output_tokens'],
      reasoning: oracle['output_reasoning_tokens'] ?? 0,
    });
  });
});
