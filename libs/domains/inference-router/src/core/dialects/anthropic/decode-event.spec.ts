import fc from 'fast-check';
import type { RawContentBlockStartEvent, StopReason } from '@anthropic-ai/sdk/resources/messages/messages';
import { fuzzRuns } from '@gateway/test-support';
import type { FinishReason } from '../../completion/finish-reason';
import type { ChoiceDelta, DecodedEvent } from '../dialect';
import { UpstreamFailure } from '../../failure/upstream-failure';
import { anthropic } from '.';

function start(usage: object = { input_tokens: 10, output_tokens: 2 }, id = 'msg_1'): object {
  return { type: 'message_start', message: { id, type: 'message', role: 'assistant', content: [], usage } };
}
const open = (index: number, content_block: object) => ({
  type: 'content_block_start',
  index,
  content_block,
});
const delta = (index: number, part: object) => ({ type: 'content_block_delta', index, delta: part });
const close = (index: number) => ({ type: 'content_block_stop', index });
const end = (stop_reason: string | null, usage: object | undefined = { output_tokens: 7 }) => ({
  type: 'message_delta',
  delta: { stop_reason, stop_sequence: null },
  usage,
});
const text = (index: number, value: string) => delta(index, { type: 'text_delta', text: value });
const json = (index: number, value: string) =>
  delta(index, { type: 'input_json_delta', partial_json: value });
const tool = (id: string, input: object = {}) => ({ type: 'tool_use', id, name: 'find', input });
const TEXT = { type: 'text', text: '', citations: null };

function decode(...events: readonly object[]): DecodedEvent[] {
  const decoder = anthropic.createDecoder(1);
  return events.map((event) => decoder.decode(JSON.stringify(event)));
}

/** The deltas, without the fields that are empty. */
function deltas(...events: readonly object[]): unknown[] {
  return decode(...events)
    .flatMap(({ choices }) => choices)
    .map(withoutEmpty)
    .filter((fields) => Object.keys(fields).length > 0);
}

function withoutEmpty({ index, ...fields }: ChoiceDelta): object {
  expect(index).toBe(0);
  const used = Object.entries(fields).filter(
    ([, value]) => value !== null && value !== undefined && !(Array.isArray(value) && value.length === 0),
  );
  return Object.fromEntries(used);
}

it('decodes text, pings and the end of a message', () => {
  const events = [
    start(),
    { type: 'ping' },
    open(0, TEXT),
    text(0, 'Hel'),
    delta(0, { type: 'citations_delta', citation: {} }),
    text(0, 'lo'),
    text(0, ''),
    close(0),
    end('end_turn'),
    { type: 'message_stop' },
  ];
  expect(deltas(...events)).toEqual([{ content: 'Hel' }, { content: 'lo' }, { finishReason: 'stop' }]);
  expect(decode(...events).map(({ done }) => done ?? false)).toEqual([...Array(9).fill(false), true]);
});

it('starts no choice before the provider produces output, so that earlier failures can be retried', () => {
  expect(decode(start(), { type: 'ping' }).flatMap(({ choices }) => choices)).toEqual([]);
  expect(decode(start(), open(0, TEXT)).flatMap(({ choices }) => choices)).toHaveLength(1);
});

it('accepts padding in lines and any order of fields', () => {
  const decoder = anthropic.createDecoder(1);
  decoder.decode('{"type":"content_block_start","index":0,"content_block":{"text":"","type":"text"}      }');
  const { choices } = decoder.decode(
    '{"type":"content_block_delta","index":0,"delta":{"text":"a","type":"text_delta"}         }',
  );
  expect(choices[0]?.content).toBe('a');
});

it('returns each block of thinking as a whole, with its signature, when it ends', () => {
  expect(
    deltas(
      start(),
      open(0, { type: 'thinking', thinking: '', signature: '' }),
      delta(0, { type: 'thinking_delta', thinking: 'one' }),
      delta(0, { type: 'thinking_delta', thinking: ' two' }),
      delta(0, { type: 'signature_delta', signature: 's1' }),
      close(0),
      open(1, { type: 'redacted_thinking', data: 'secret' }),
      close(1),
      // The provider omits the text where it is not displayed.
      open(2, { type: 'thinking', thinking: '', signature: '' }),
      delta(2, { type: 'signature_delta', signature: 's2' }),
      close(2),
    ),
  ).toEqual([
    { reasoning: 'one' },
    { reasoning: ' two' },
    { reasoningDetails: [{ type: 'reasoning.text', index: 0, text: 'one two', signature: 's1' }] },
    { reasoningDetails: [{ type: 'reasoning.encrypted', index: 1, data: 'secret' }] },
    { reasoningDetails: [{ type: 'reasoning.text', index: 2, text: '', signature: 's2' }] },
  ]);
});

it('returns no thinking without a signature for later turns', () => {
  const thought = deltas(
    open(0, { type: 'thinking', thinking: 'hm', signature: '' }),
    close(0),
    end('end_turn'),
  );
  expect(thought).toEqual([{ reasoning: 'hm' }, { finishReason: 'stop' }]);
});

it('counts tool calls from 0, and ends each with JSON', () => {
  const call = (index: number, fields: object) => ({
    toolCalls: [{ index, id: undefined, name: undefined, ...fields }],
  });
  expect(
    deltas(
      start(),
      open(0, TEXT),
      close(0),
      open(1, tool('toolu_1')),
      json(1, ''),
      json(1, '{"q":'),
      json(1, '"x"}'),
      close(1),
      // Without arguments.
      open(2, tool('toolu_2')),
      json(2, ''),
      close(2),
      // With its arguments at the start, and not stopped before the message ends.
      open(3, tool('toolu_3', { a: 1 })),
      end('tool_use'),
    ),
  ).toEqual([
    call(0, { id: 'toolu_1', name: 'find', arguments: '' }),
    call(0, { arguments: '{"q":' }),
    call(0, { arguments: '"x"}' }),
    call(1, { id: 'toolu_2', name: 'find', arguments: '' }),
    call(1, { arguments: '{}' }),
    call(2, { id: 'toolu_3', name: 'find', arguments: '' }),
    { ...call(2, { arguments: '{"a":1}' }), finishReason: 'tool_calls' },
  ]);
});

/** A type that the SDK adds is a compile-time error here. */
const IGNORED_BLOCKS: Readonly<
  Record<
    Exclude<
      RawContentBlockStartEvent['content_block']['type'],
      'text' | 'thinking' | 'redacted_thinking' | 'tool_use'
    >,
    true
  >
> = {
  server_tool_use: true,
  web_search_tool_result: true,
  web_fetch_tool_result: true,
  code_execution_tool_result: true,
  bash_code_execution_tool_result: true,
  text_editor_code_execution_tool_result: true,
  tool_search_tool_result: true,
  container_upload: true,
};

it.each([...Object.keys(IGNORED_BLOCKS), 'a_future_block'])('ignores blocks of type %s', (type) => {
  expect(
    deltas(
      start(),
      open(0, { type, id: 'srvtoolu_1', input: {} }),
      json(0, '{"query":"x"}'),
      close(0),
      open(1, TEXT),
      text(1, 'a'),
      { type: 'a_future_event', index: 0 },
      delta(1, { type: 'a_future_delta' }),
    ),
  ).toEqual([{ content: 'a' }]);
});

const FINISH_REASONS: Readonly<Record<StopReason, FinishReason>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  pause_turn: 'length',
  tool_use: 'tool_calls',
  refusal: 'content_filter',
};

it.each([...Object.entries(FINISH_REASONS), ['a_future_reason', 'stop']])(
  'the stop reason %s is %s, in a stream and in a response',
  (stop_reason, finishReason) => {
    const expected = stop_reason === 'stop_sequence' ? { finishReason, stopSequence: '' } : { finishReason };
    expect(deltas(start(), end(stop_reason))).toEqual([expected]);
    const response = anthropic.readResponse({ type: 'message', content: [], stop_reason }, 1);
    expect(response.choices[0]?.finishReason).toBe(finishReason);
  },
);

it('a stop sequence is named, in a stream and in a response', () => {
  const stop = { stop_reason: 'stop_sequence', stop_sequence: 'END' };
  const delta = { type: 'message_delta', delta: stop, usage: { output_tokens: 7 } };
  expect(deltas(start(), delta)).toEqual([{ finishReason: 'stop', stopSequence: 'END' }]);
  const response = anthropic.readResponse({ type: 'message', content: [], ...stop }, 1);
  expect(response.choices[0]).toMatchObject({ finishReason: 'stop', stopSequence: 'END' });
});

describe('usage', () => {
  const last = (...events: readonly object[]) =>
    decode(...events)
      .flatMap(({ usage }) => usage ?? [])
      .at(-1);

  it('is the last report, not a sum', () => {
    expect(
      last(
        start({ input_tokens: 10, output_tokens: 2 }),
        end(null, { input_tokens: 12, output_tokens: 5 }),
        end('end_turn', {
          input_tokens: 61,
          output_tokens: 9,
          output_tokens_details: { thinking_tokens: 4 },
        }),
      ),
    ).toEqual({
      promptTokens: 61,
      cachedTokens: undefined,
      cacheWriteTokens: undefined,
      cacheWrite1hTokens: undefined,
      imageTokens: undefined,
      completionTokens: 9,
      reasoningTokens: 4,
    });
  });

  it('includes cache reads and writes in the prompt, and divides writes by lifetime', () => {
    const first = {
      input_tokens: 10,
      cache_read_input_tokens: 1_000,
      cache_creation_input_tokens: 300,
      cache_creation: { ephemeral_5m_input_tokens: 100, ephemeral_1h_input_tokens: 200 },
      output_tokens: 1,
    };
    const expected = {
      promptTokens: 1_310,
      cachedTokens: 1_000,
      cacheWriteTokens: 100,
      cacheWrite1hTokens: 200,
    };
    expect(last(start(first))).toMatchObject(expected);
    // The last report has the totals only, and may leave out or null what has not changed.
    const totals = { input_tokens: 10, cache_read_input_tokens: 1_000, cache_creation_input_tokens: 300 };
    expect(last(start(first), end('end_turn', { ...totals, output_tokens: 3 }))).toMatchObject(expected);
    const nulls = { input_tokens: null, cache_read_input_tokens: null, cache_creation_input_tokens: null };
    expect(last(start(first), end('end_turn', { ...nulls, output_tokens: 3 }))).toMatchObject(expected);
    expect(last(start(first), end('end_turn', { output_tokens: 3 }))).toMatchObject(expected);
  });

  it('of a stream that ends early has the input, and leaves the output to be counted', () => {
    const usage = last(
      start({ input_tokens: 10, cache_read_input_tokens: 5, output_tokens: 2 }),
      open(0, TEXT),
    );
    expect(usage).toMatchObject({ promptTokens: 15, cachedTokens: 5, completionTokens: undefined });
  });

  it.each([-1, 1.5, '7', 2 ** 60])('with the count %s is unreadable', (output_tokens) => {
    expect(last(start(), end('end_turn', { output_tokens }))).toMatchObject({ completionTokens: undefined });
  });
});

describe('a stream that breaks the protocol', () => {
  it.each([
    [[text(0, 'a')]],
    [[open(0, TEXT), close(0), text(0, 'a')]],
    [[open(0, TEXT), json(0, '{}')]],
    [[open(0, tool('t')), text(0, 'a')]],
    [[open(0, TEXT), delta(0, { type: 'text_delta', text: 5 })]],
    [[open(0, TEXT), { type: 'content_block_delta', index: 0 }]],
    [[{ type: 'content_block_start', index: 0 }]],
    [[{ type: 'content_block_start', content_block: TEXT }]],
    [[{ type: 'message_start' }]],
    [[open(0, { type: 'redacted_thinking' })]],
    [[start(), open(0, TEXT), start({}, 'msg_2')]],
  ])('fails: %j', (events) => {
    expect(() => decode(...events)).toThrow(UpstreamFailure);
  });

  it('fails for text that is not a JSON object', () => {
    for (const data of ['', '[DONE]', '[]', '"a"', '{"type":']) {
      expect(() => anthropic.createDecoder(1).decode(data)).toThrow(UpstreamFailure);
    }
  });

  it('accepts a repeated message_start of the same message', () => {
    expect(deltas(start(), start(), open(0, TEXT), start(), text(0, 'a'))).toEqual([{ content: 'a' }]);
  });

  it('never throws anything but an UpstreamFailure, for any events', () => {
    const value = fc.oneof(
      fc.jsonValue({ maxDepth: 1 }),
      fc.constantFrom('text', 'thinking', 'tool_use', 'text_delta'),
    );
    const fields = ['type', 'index', 'delta', 'content_block', 'message', 'usage', 'text', 'input'];
    const part = fc.record(Object.fromEntries(fields.map((field) => [field, value])), { requiredKeys: [] });
    const event = fc.record({
      type: fc.constantFrom(
        'message_start',
        'message_delta',
        'content_block_start',
        'content_block_delta',
        'content_block_stop',
      ),
      index: fc.oneof(fc.nat(2), value),
      delta: part,
      content_block: part,
      message: part,
      usage: part,
    });
    fc.assert(
      fc.property(fc.array(fc.oneof(event, part)), (events) => {
        try {
          decode(...events);
        } catch (error) {
          expect(error).toBeInstanceOf(UpstreamFailure);
        }
      }),
      fuzzRuns(),
    );
  });
});

describe('a template', () => {
  const of = (data: string) => anthropic.createDecoder(1).templateOf(data);
  const plain = JSON.stringify(text(3, 'a "quoted" word'));

  it('divides a text delta at its text, whatever its padding', () => {
    const before = '{"type":"content_block_delta","index":3,"delta":{"type":"text_delta","text":"';
    const template = { before, after: '"}}', padded: true, index: 0 };
    expect(of(plain)).toEqual(template);
    expect(of(plain.replace(/\}$/, '          }'))).toEqual(template);
  });

  it.each([
    [JSON.stringify(json(0, 'x'))],
    [JSON.stringify(delta(0, { type: 'thinking_delta', thinking: 'x' }))],
    [JSON.stringify(delta(0, { type: 'text_delta', text: 'x', more: 1 }))],
    [JSON.stringify({ ...text(0, 'x'), usage: {} })],
    [JSON.stringify(text(0, 'x'.repeat(5_000)))],
    ['{"type":"ping"}'],
  ])('does not exist for other events: %s', (data) => {
    expect(of(data)).toBeUndefined();
  });
});

describe('a complete response', () => {
  it('has the same parts as a stream', () => {
    const response = anthropic.readResponse(
      {
        type: 'message',
        content: [
          { type: 'thinking', thinking: 'hm', signature: 's' },
          { type: 'redacted_thinking', data: 'd' },
          { type: 'text', text: 'Hel' },
          { type: 'server_tool_use', id: 'srv', input: {} },
          { type: 'text', text: 'lo' },
          tool('toolu_1', { q: 1 }),
          tool('toolu_2'),
        ],
        stop_reason: 'tool_use',
        usage: { input_tokens: 1, cache_creation: { ephemeral_1h_input_tokens: 4 }, output_tokens: 3 },
      },
      1,
    );
    expect(response.choices.map(withoutEmpty)).toEqual([
      {
        content: 'Hello',
        reasoning: 'hm',
        reasoningDetails: [
          { type: 'reasoning.text', index: 0, text: 'hm', signature: 's' },
          { type: 'reasoning.encrypted', index: 1, data: 'd' },
        ],
        toolCalls: [
          { index: 0, id: 'toolu_1', name: 'find', arguments: '{"q":1}' },
          { index: 1, id: 'toolu_2', name: 'find', arguments: '{}' },
        ],
        finishReason: 'tool_calls',
      },
    ]);
    expect(response.usage).toMatchObject({
      promptTokens: 5,
      cacheWriteTokens: 0,
      cacheWrite1hTokens: 4,
      completionTokens: 3,
    });
  });

  it('without content is none, and with unreadable content fails', () => {
    expect(anthropic.readResponse({ type: 'message' }, 1).choices).toEqual([]);
    for (const block of ['a', { type: 'text' }, { type: 'thinking' }, { type: 'redacted_thinking' }]) {
      expect(() => anthropic.readResponse({ content: [block] }, 1)).toThrow(UpstreamFailure);
    }
  });
});
