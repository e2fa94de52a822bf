import { noHeader } from '../../../testing/assemble';
import { calcPrice, extractUsage, findProvider } from '@pydantic/genai-prices';
import { recordingsOf, type Recording } from '../../../testing/recordings/recordings';
import type { ChoiceDelta, DecodedEvent, ReportedUsage } from '../dialect';
import { SseParser } from '../../framing/sse-parser';
import { anthropic } from '.';

const recordings = recordingsOf('anthropic');
const successes = recordings.filter(({ status }) => status === 200);
const complete = successes.filter(({ name }) => !name.includes('spliced-message-start'));

function decodeAll(bytes: Buffer, bytesPerPush: number): DecodedEvent[] {
  const parser = new SseParser();
  const decoder = anthropic.createDecoder(1);
  const events: string[] = [];
  for (let at = 0; at < bytes.length; at += bytesPerPush) {
    events.push(...parser.push(bytes.subarray(at, at + bytesPerPush)));
  }
  events.push(...parser.end());
  return events.map((data) => decoder.decode(data));
}

interface Read {
  readonly content: string;
  readonly reasoning: string;
  readonly calls: readonly { id: string; name: string; arguments: string }[];
  readonly finishReasons: readonly unknown[];
  readonly details: number;
  readonly usage: ReportedUsage | undefined;
}

function sum(choices: readonly ChoiceDelta[], usage: ReportedUsage | undefined): Read {
  const calls: { id: string; name: string; arguments: string }[] = [];
  for (const { index, id, name, arguments: json } of choices.flatMap(({ toolCalls }) => toolCalls)) {
    const call = (calls[index as number] ??= { id: '', name: '', arguments: '' });
    call.id += id ?? '';
    call.name += name ?? '';
    call.arguments += json;
  }
  return {
    content: choices.map(({ content }) => content ?? '').join(''),
    reasoning: choices.map(({ reasoning }) => reasoning ?? '').join(''),
    calls,
    finishReasons: choices.flatMap(({ finishReason }) => finishReason ?? []),
    details: choices.flatMap(({ reasoningDetails }) => reasoningDetails ?? []).length,
    usage,
  };
}

function read({ isStream, body, bytes }: Recording): Read {
  if (!isStream) {
    const response = anthropic.readResponse(JSON.parse(body), 1);
    return sum(response.choices, response.usage);
  }
  const events = decodeAll(bytes, bytes.length);
  const usage = events.flatMap((event) => event.usage ?? []).at(-1);
  return sum(
    events.flatMap(({ choices }) => choices),
    usage,
  );
}

/** The recorded message; that of a stream is put together as the vendor's SDK does. */
function messageOf({ isStream, body }: Recording): { content: { type: string }[]; usage: object } {
  if (!isStream) return JSON.parse(body);
  const events = body
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => JSON.parse(line.slice('data: '.length)));
  const { message } = events.find(({ type }) => type === 'message_start');
  const { usage } = events.findLast(({ type }) => type === 'message_delta');
  return { ...message, usage: { ...message.usage, ...usage } };
}

it('finds the recordings', () => {
  expect(complete.length).toBeGreaterThan(20);
});

it('decodes every stream equally, as a whole and cut at every byte', () => {
  for (const { name, bytes } of complete.filter(({ isStream }) => isStream)) {
    const whole = decodeAll(bytes, bytes.length);
    expect({ name, events: decodeAll(bytes, 1) }).toEqual({ name, events: whole });
    expect(whole.filter(({ done }) => done)).toHaveLength(1);
  }
});

it('reads one finish reason, output and readable tool calls from every response', () => {
  for (const recording of complete) {
    const { name } = recording;
    const { content, reasoning, calls, finishReasons } = read(recording);
    expect({ name, count: finishReasons.length }).toEqual({ name, count: 1 });
    for (const call of calls) {
      expect({ name, call }).toEqual({
        name,
        call: {
          id: expect.stringMatching(/^toolu_/),
          name: expect.stringMatching(/./),
          arguments: call.arguments,
        },
      });
      expect(JSON.parse(call.arguments)).toEqual(expect.any(Object));
    }
    const hasOutput = content !== '' || reasoning !== '' || calls.length > 0;
    const isEmpty = /refusal/.test(name);
    expect({ name, hasOutput }).toEqual({ name, hasOutput: !isEmpty });
  }
});

it('keeps every block of thinking, with its signature', () => {
  let blocks = 0;
  for (const recording of complete.filter(({ isStream }) => !isStream)) {
    const expected = messageOf(recording).content.filter(({ type }) => /thinking/.test(type)).length;
    expect({ name: recording.name, details: read(recording).details }).toEqual({
      name: recording.name,
      details: expected,
    });
    blocks += expected;
  }
  expect(blocks).toBeGreaterThan(5);
});

it('reports the usage and cost that the oracle computes', () => {
  const provider = findProvider({ providerId: 'anthropic' });
  if (!provider) throw new Error('the oracle does not know Anthropic');
  for (const recording of complete) {
    const { name } = recording;
    const message = messageOf(recording);
    const { model, usage: expected } = extractUsage(provider, message, 'default');
    const { usage } = read(recording);
    const actual = {
      input_tokens: usage?.promptTokens,
      output_tokens: usage?.completionTokens,
      cache_read_tokens: usage?.cachedTokens ?? 0,
      cache_write_tokens: (usage?.cacheWriteTokens ?? 0) + (usage?.cacheWrite1hTokens ?? 0),
    };
    expect({ name, ...actual }).toEqual({
      name,
      input_tokens: expected['input_tokens'],
      output_tokens: expected['output_tokens'],
      cache_read_tokens: expected['cache_read_tokens'] ?? 0,
      cache_write_tokens: expected['cache_write_tokens'] ?? 0,
    });
    if (model === null) throw new Error(`${name} names no model`);
    const cost = (tokens: Record<string, number | undefined>) =>
      calcPrice(tokens, model, { providerId: 'anthropic' })?.total_price;
    expect({ name, cost: cost(actual) }).toEqual({ name, cost: cost(expected) });
  }
});

it('fails a stream into which a second message was spliced', () => {
  const spliced = successes.filter((recording) => !complete.includes(recording));
  expect(spliced).not.toEqual([]);
  for (const recording of spliced) expect(() => read(recording)).toThrow('a second message in one stream');
});

it('recognizes the recorded errors', () => {
  const kinds = recordings
    .filter(({ status }) => status !== 200)
    .map(({ status, body }) =>
      anthropic.kindOfError(anthropic.readError(JSON.parse(body), noHeader), status, 'claude-x'),
    );
  expect(kinds).not.toEqual([]);
  expect(kinds).not.toContain('failed');
});
