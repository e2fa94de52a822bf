import { extractUsage, findProvider } from '@pydantic/genai-prices';
import { assemble } from '../../../testing/assemble';
import { filesOf, hasRecordings, readCassettes } from '../../../testing/recordings/recordings';
import { asObject, parseJson, type JsonObject } from '../../completion/json';
import type { DecodedEvent, ReportedUsage } from '../dialect';
import { AwsEventStreamParser } from '../../framing/aws-event-stream';
import { converse } from './index';

const cassettes = readCassettes('pydantic-ai/test_bedrock').filter(({ url }) =>
  /\/converse(-stream)?$/.test(url),
);
const streams = cassettes.filter(({ url, status }) => url.endsWith('-stream') && status === 200);
const responses = cassettes.filter(({ url, status }) => url.endsWith('/converse') && status === 200);
const errors = cassettes.filter(({ status }) => status !== 200);

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

function decodeLines(text: string): DecodedEvent[] {
  const decoder = converse.createDecoder(1);
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => decoder.decode(line));
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

(hasRecordings ? describe : describe.skip)('recorded responses of Bedrock', () => {
  it('exist for streams, responses and errors', () => {
    expect(streams.length).toBeGreaterThanOrEqual(8);
    expect(responses.length).toBeGreaterThanOrEqual(40);
    expect(errors.length).toBeGreaterThanOrEqual(2);
  });

  it.each(streams)('are decoded alike for any cut of the stream: $name', ({ body }) => {
    const whole = decodeParts([body]);
    const { content, finishReason, done } = assemble(whole);
    expect(content).not.toBe('');
    expect(finishReason).toMatch(/^(stop|tool_calls)$/);
    expect(done).toBe(true);
    expect(decodeParts([...body].map((byte) => Buffer.of(byte)))).toEqual(whole);
    // The decoder reads nothing but these texts.
    expect(whole.filter(({ error }) => error !== undefined)).toEqual([]);
    // No frame depends on another, so each cut needs only its frame and those next to it.
    const frames = framesOf(body);
    expect(frames.flatMap((frame) => parseParts([frame]))).toEqual(parseParts([body]));
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

  it.each(streams)('have the usage of the oracle: $name', ({ body }) => {
    expectSameAsOracle(assemble(decodeParts([body])).usage, metadataOf(parseParts([body])));
  });

  it.each(responses)('are read, with the usage of the oracle: $name', ({ body }) => {
    const response = object(body.toString());
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

  it.each(errors)('are errors of the operator: $name', ({ body, status, headers }) => {
    const error = converse.readError(parseJson(body.toString()), (name) => headers[name]);
    expect(error.message).toBe('The provided model identifier is invalid.');
    expect(converse.kindOfError(error, status, 'us.does-not-exist-model-v1:0')).toBe('misconfigured');
  });

  it('keep the signature and the text of a thought, and redacted thoughts', () => {
    const stream = (name: string) => {
      const found = streams.find((one) => one.name.startsWith(name));
      return assemble(decodeParts([found?.body ?? Buffer.alloc(0)]));
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
      .map(({ body }) => converse.readResponse(object(body.toString()), 1).usage);
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

  it.each(filesOf('vercel-ai/amazon-bedrock', '.chunks.txt'))(
    'are decoded from the events of another project: $name',
    ({ text }) => {
      const whole = assemble(decodeLines(text));
      expect(whole.finishReason).toMatch(/^(stop|tool_calls)$/);
      const events = text.split('\n');
      // Some of these streams were written by hand, without usage.
      const hasUsage = events.some((event) => event.startsWith('{"metadata"'));
      expect(whole.done).toBe(hasUsage);
      if (whole.finishReason === 'tool_calls') expect(whole.toolCalls).not.toEqual([]);
      for (const { arguments: json } of whole.toolCalls) expect(asObject(JSON.parse(json))).toBeDefined();
      if (hasUsage) expectSameAsOracle(whole.usage, metadataOf(events));
    },
  );

  it.each(filesOf('vercel-ai/amazon-bedrock', '.json'))(
    'are read from the responses of another project: $name',
    ({ text }) => {
      const response = object(text);
      const read = converse.readResponse(response, 1);
      expect(read.choices[0]?.finishReason).toMatch(/^(stop|tool_calls)$/);
      expectSameAsOracle(read.usage, response);
    },
  );
});
