import { extractUsage, findProvider } from '@pydantic/genai-prices';
import { assemble } from '../../../testing/assemble';
import { recordingsOf } from '../../../testing/recordings/recordings';
import { asObject, parseJson, type JsonObject } from '../../completion/json';
import type { DecodedEvent, ReportedUsage } from '../dialect';
import { AwsEventStreamParser } from '../../framing/aws-event-stream';
import { converse } from './index';

const recordings = recordingsOf('converse');
const recorded = recordings.filter(({ source }) => source === 'pydantic-ai');
const streams = recorded.filter(({ isStream }) => isStream);
const responses = recorded.filter(({ isStream, status }) => !isStream && status === 200);
const errors = recorded.filter(({ status }) => status !== 200);
/** Some of these were written by hand. */
const others = recordings.filter(({ source }) => source === 'vercel-ai');

function parseParts(parts: readonly Uint8Array[]): string[] {
  const parser = new AwsEventStreamParser();
  return [...parts.flatMap((part) => parser.push(part)), ...parser.end()];
}

/** A frame starts with its length. */
function framesOf(body: Buffer): Buffer[] {
  const frames: Buffer[] = [];
  for (let at = 0; at < body.length; at += body.readUInt32BE(at)) {
    frames.push(body.subarray(at, at + body.readUInt32BE(at)));
  }
  return frames;
}

function decodeParts(parts: readonly Uint8Array[]): DecodedEvent[] {
  const decoder = converse.createDecoder(1);
  return parseParts(parts).map((event) => decoder.decode(event));
}

function object(json: string): JsonObject {
  return asObject(parseJson(json)) ?? {};
}

const provider = findProvider({ providerId: 'aws' });

/** The oracle does not know lifetimes: written tokens are one number. It reads missing cache counts as no count. */
function expectSameAsOracle(usage: ReportedUsage | undefined, response: JsonObject): void {
  if (!provider) throw new Error('the oracle does not know AWS');
  const oracle = extractUsage(provider, response, 'default').usage;
  expect({
    input: usage?.promptTokens,
    cached: usage?.cachedTokens ?? 0,
    written: (usage?.cacheWriteTokens ?? 0) + (usage?.cacheWrite1hTokens ?? 0),
    output: usage?.completionTokens,
  }).toEqual({
    input: oracle['input_tokens'],
    cached: oracle['cache_read_tokens'] ?? 0,
    written: oracle['cache_write_tokens'] ?? 0,
    output: oracle['output_tokens'],
  });
}

/** The `metadata` event among the events of a stream. */
function metadataOf(events: readonly string[]): JsonObject {
  const metadata = events.map((event) => asObject(object(event)['metadata'])).find((found) => found);
  if (!metadata) throw new Error('the recording has no metadata');
  return metadata;
}

describe('recorded responses of Bedrock', () => {
  it('exist for streams, responses and errors', () => {
    expect(streams.length).toBeGreaterThanOrEqual(8);
    expect(responses.length).toBeGreaterThanOrEqual(40);
    expect(errors.length).toBeGreaterThanOrEqual(2);
  });

  it.each(streams)('are decoded alike for any cut of the stream: $name', ({ bytes }) => {
    const whole = decodeParts([bytes]);
    const { content, finishReason, done } = assemble(whole);
    expect(content).not.toBe('');
    expect(finishReason).toMatch(/^(stop|tool_calls)$/);
    expect(done).toBe(true);
    expect(decodeParts([...bytes].map((byte) => Buffer.of(byte)))).toEqual(whole);
    // The decoder reads nothing but these texts.
    expect(whole.filter(({ error }) => error !== undefined)).toEqual([]);
    // No frame depends on another, so each cut needs only its frame and those next to it.
    const frames = framesOf(bytes);
    expect(frames.flatMap((frame) => parseParts([frame]))).toEqual(parseParts([bytes]));
    for (const [index, frame] of frames.entries()) {
      const before = frames[index - 1] ?? Buffer.alloc(0);
      const part = Buffer.concat([before, frame, frames[index + 1] ?? Buffer.alloc(0)]);
      const joined = parseParts([part]).join('\n');
      for (let at = before.length; at < before.length + frame.length; at += 1) {
        const cut = parseParts([part.subarray(0, at), part.subarray(at)]).join('\n');
        if (cut !== joined) expect({ index, at, cut }).toEqual({ index, at, cut: joined });
      }
    }
  });

  it.each(streams)('have the usage of the oracle: $name', ({ bytes }) => {
    expectSameAsOracle(assemble(decodeParts([bytes])).usage, metadataOf(parseParts([bytes])));
  });

  it.each(responses)('are read, with the usage of the oracle: $name', ({ body }) => {
    const response = object(body);
    const read = converse.readResponse(response, 1);
    const { content, reasoning, toolCalls, finishReason } = assemble([read]);
    expect(content !== '' || reasoning !== '' || toolCalls.length > 0).toBe(true);
    if (finishReason === 'tool_calls') expect(toolCalls).not.toEqual([]);
    for (const { id, arguments: text } of toolCalls) {
      expect(id).not.toBe('');
      expect(asObject(JSON.parse(text))).toBeDefined();
    }
    expect(read.error).toBeUndefined();
    expectSameAsOracle(read.usage, response);
  });

  it.each(errors)('are errors of the operator: $name', ({ body, status, errorType }) => {
    const error = converse.readError(parseJson(body), (name) =>
      name === 'x-amzn-errortype' ? errorType : undefined,
    );
    expect(error.message).toBe('The provided model identifier is invalid.');
    expect(converse.kindOfError(error, status, 'us.does-not-exist-model-v1:0')).toBe('misconfigured');
  });

  it('keep the signature and the text of a thought, and redacted thoughts', () => {
    const stream = (name: string) => {
      const found = streams.find((one) => one.name.startsWith(name));
      return assemble(decodeParts([found?.bytes ?? Buffer.alloc(0)]));
    };
    const thinking = stream('test_bedrock_model_thinking_part_stream');
    expect(thinking.reasoning).toMatch(/^The user has greeted me/);
    expect(thinking.details).toEqual([
      {
        type: 'reasoning.text',
        index: 0,
        text: thinking.reasoning,
        signature: expect.stringMatching(/^Eu0CCkgIBxAB/),
      },
    ]);
    const redacted = stream('test_bedrock_model_thinking_part_redacted_stream');
    expect(redacted.details).toEqual([
      { type: 'reasoning.encrypted', index: 0, data: expect.stringMatching(/^RXRr/) },
      { type: 'reasoning.encrypted', index: 1, data: expect.stringMatching(/^RX/) },
    ]);
    expect(redacted.reasoning).toBe('');
    expect(stream('test_bedrock_model_stream_empty_text_delta').details).toEqual([]);
  });

  it('count cached and written tokens as part of the prompt', () => {
    const usages = responses
      .filter(({ name }) => name.startsWith('test_bedrock_cache_'))
      .map(({ body }) => converse.readResponse(object(body), 1).usage);
    expect(usages).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          promptTokens: 1517,
          cachedTokens: 1504,
          cacheWriteTokens: 0,
          completionTokens: 5,
        }),
        expect.objectContaining({
          promptTokens: 1517,
          cachedTokens: 0,
          cacheWriteTokens: 1503,
          completionTokens: 5,
        }),
      ]),
    );
  });

  it.each(others.filter(({ isStream }) => isStream))(
    'are decoded from the streams of another project: $name',
    ({ bytes }) => {
      const whole = assemble(decodeParts([bytes]));
      expect(whole.finishReason).toMatch(/^(stop|tool_calls)$/);
      const events = parseParts([bytes]);
      // The streams that were written by hand have no usage.
      const hasUsage = events.some((event) => event.startsWith('{"metadata"'));
      expect(whole.done).toBe(hasUsage);
      if (whole.finishReason === 'tool_calls') expect(whole.toolCalls).not.toEqual([]);
      for (const { arguments: json } of whole.toolCalls) expect(asObject(JSON.parse(json))).toBeDefined();
      if (hasUsage) expectSameAsOracle(whole.usage, metadataOf(events));
    },
  );

  it.each(others.filter(({ isStream }) => !isStream))(
    'are read from the responses of another project: $name',
    ({ body }) => {
      const response = object(body);
      const read = converse.readResponse(response, 1);
      expect(read.choices[0]?.finishReason).toMatch(/^(stop|tool_calls)$/);
      expectSameAsOracle(read.usage, response);
    },
  );
});
