import fc from 'fast-check';
import { fuzzRuns, unicodeText } from '@gateway/test-support';
import { assemble } from '../../../testing/assemble';
import { eventFrame, exceptionFrame } from '../../../testing/event-stream-frames';
import type { DecodedEvent } from '../dialect';
import { UpstreamFailure } from '../../failure/upstream-failure';
import { AwsEventStreamParser } from '../../framing/aws-event-stream';
import { ConverseDecoder } from './decode-event';
import { converse } from './index';

type Event = readonly [type: string, payload: object];

const start: Event = ['messageStart', { role: 'assistant', p: 'abc' }];
const usage = { inputTokens: 10, outputTokens: 20, totalTokens: 30 };
const text = (value: string, block = 0): Event => [
  'contentBlockDelta',
  { contentBlockIndex: block, delta: { text: value }, p: 'abcdef' },
];
const reasoning = (value: object, block = 0): Event => [
  'contentBlockDelta',
  { contentBlockIndex: block, delta: { reasoningContent: value } },
];
const tool = (name: string, block: number): Event => [
  'contentBlockStart',
  { contentBlockIndex: block, start: { toolUse: { toolUseId: `id-${name}`, name } } },
];
const input = (json: string, block: number): Event => [
  'contentBlockDelta',
  { contentBlockIndex: block, delta: { toolUse: { input: json } } },
];
const stopBlock = (block: number): Event => ['contentBlockStop', { contentBlockIndex: block }];
const stop = (stopReason: string): Event => ['messageStop', { stopReason }];
const metadata: Event = ['metadata', { usage, metrics: { latencyMs: 1 } }];

function decode(events: readonly Event[]): DecodedEvent[] {
  const parser = new AwsEventStreamParser();
  const decoder = new ConverseDecoder();
  return events
    .flatMap(([type, payload]) => parser.push(eventFrame(type, payload)))
    .map((event) => decoder.decode(event));
}

const noUsage = {
  cachedTokens: undefined,
  cacheWriteTokens: undefined,
  cacheWrite1hTokens: undefined,
  imageTokens: undefined,
  reasoningTokens: undefined,
};

describe('the decoder of ConverseStream', () => {
  it('reads text, thoughts, tool calls, the stop reason and the usage', () => {
    const whole = assemble(
      decode([
        start,
        reasoning({ text: 'Let me ' }),
        reasoning({ text: 'look.' }),
        reasoning({ signature: 'c2ln' }),
        stopBlock(0),
        reasoning({ redactedContent: 'ZW5j' }, 1),
        stopBlock(1),
        text('I look ', 2),
        text('it up.', 2),
        stopBlock(2),
        tool('weather', 3),
        input('', 3),
        input('{"city":', 3),
        input('"Bonn"}', 3),
        stopBlock(3),
        tool('now', 4),
        stopBlock(4),
        stop('tool_use'),
        metadata,
      ]),
    );
    expect(whole).toEqual({
      content: 'I look it up.',
      reasoning: 'Let me look.',
      details: [
        { type: 'reasoning.text', index: 0, text: 'Let me look.', signature: 'c2ln' },
        { type: 'reasoning.encrypted', index: 1, data: 'ZW5j' },
      ],
      toolCalls: [
        { id: 'id-weather', name: 'weather', arguments: '{"city":"Bonn"}' },
        { id: 'id-now', name: 'now', arguments: '{}' },
      ],
      finishReason: 'tool_calls',
      usage: { ...noUsage, promptTokens: 10, completionTokens: 20 },
      done: true,
    });
  });

  it('does not start the completion before output, so that an early error can be retried', () => {
    expect(decode([start])).toEqual([{ choices: [] }]);
  });

  it('is complete with the stop reason and the usage, in any order', () => {
    const done = (events: readonly Event[]) => decode(events).map((event) => event.done ?? false);
    expect(done([text('a'), stop('end_turn'), metadata])).toEqual([false, false, true]);
    expect(done([text('a'), metadata, stop('end_turn')])).toEqual([false, false, true]);
    expect(done([text('a'), stop('end_turn'), ['metadata', {}]])).toEqual([false, false, false]);
  });

  it('replaces an earlier usage by a later one', () => {
    const later: Event = ['metadata', { usage: { inputTokens: 11, outputTokens: 25 } }];
    expect(assemble(decode([text('a'), metadata, later])).usage).toEqual({
      ...noUsage,
      promptTokens: 11,
      completionTokens: 25,
    });
  });

  it.each([
    ['end_turn', 'stop'],
    ['stop_sequence', 'stop'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['tool_use', 'tool_calls'],
    ['content_filtered', 'content_filter'],
    ['guardrail_intervened', 'content_filter'],
    ['a_new_reason', 'stop'],
    ['constructor', 'stop'],
  ])('maps the stop reason %s to %s', (reason, expected) => {
    expect(assemble(decode([stop(reason)])).finishReason).toBe(expected);
  });

  it.each(['malformed_model_output', 'malformed_tool_use', '', null])(
    'fails for the stop reason %s',
    (reason) => {
      expect(() => decode([['messageStop', { stopReason: reason }]])).toThrow(
        expect.objectContaining({ kind: 'failed' }),
      );
    },
  );

  it('says that a stop sequence ended the message, but not which', () => {
    const [event] = decode([stop('stop_sequence')]);
    expect(event?.choices[0]).toMatchObject({ finishReason: 'stop', stopSequence: '' });
  });

  it('ignores unknown events and deltas, and tools that the provider runs itself', () => {
    const whole = assemble(
      decode([
        ['aNewEvent', { anything: 1 }],
        ['initial-response', {}],
        ['contentBlockDelta', { contentBlockIndex: 0, delta: { citation: { title: 't' } } }],
        ['contentBlockDelta', { contentBlockIndex: 0, delta: { toolResult: [{ text: 'found' }] } }],
        reasoning({ aNewKind: 'x' }),
        ['contentBlockStart', { contentBlockIndex: 1, start: { image: { format: 'png' } } }],
        [
          'contentBlockStart',
          {
            contentBlockIndex: 2,
            start: { toolUse: { toolUseId: 's', name: 'nova_grounding', type: 'server_tool_use' } },
          },
        ],
        input('{"query":"x"}', 2),
        stopBlock(2),
      ]),
    );
    expect(whole).toEqual(assemble([]));
  });

  it.each<[string, string]>([
    ['no JSON', '{"contentBlockDelta":'],
    ['a list', '[]'],
    ['a payload that is not an object', '{"contentBlockDelta":7}'],
    ['a delta that is missing', '{"contentBlockDelta":{"contentBlockIndex":0}}'],
    ['a text that is a number', '{"contentBlockDelta":{"contentBlockIndex":0,"delta":{"text":7}}}'],
    [
      'input without its tool',
      '{"contentBlockDelta":{"contentBlockIndex":0,"delta":{"toolUse":{"input":"x"}}}}',
    ],
    [
      'a tool without a name',
      '{"contentBlockStart":{"contentBlockIndex":0,"start":{"toolUse":{"toolUseId":"x"}}}}',
    ],
    ['a tool without a block', '{"contentBlockStart":{"start":{"toolUse":{"name":"x"}}}}'],
    ['a negative block', '{"contentBlockStop":{"contentBlockIndex":-1}}'],
    [
      'a signature that is null',
      '{"contentBlockDelta":{"contentBlockIndex":0,"delta":{"reasoningContent":{"signature":null}}}}',
    ],
  ])('fails for %s', (_case, event) => {
    expect(() => new ConverseDecoder().decode(event)).toThrow(expect.objectContaining({ kind: 'failed' }));
  });

  it('fails for more tool calls than a completion may have', () => {
    const calls = Array.from({ length: 129 }, (_, index) => tool('t', index));
    expect(() => decode(calls)).toThrow(UpstreamFailure);
    expect(assemble(decode(calls.slice(0, 128))).toolCalls).toHaveLength(128);
  });

  it('throws nothing but UpstreamFailure, whatever the event', () => {
    const key = fc.constantFrom(
      'contentBlockStart', 'contentBlockDelta', 'contentBlockStop', 'messageStop', 'metadata', 'contentBlockIndex',
      'start', 'delta', 'toolUse', 'text', 'input', 'reasoningContent', 'signature', 'redactedContent', 'stopReason',
      'usage', 'inputTokens', 'cacheDetails', 'name',
    ); // prettier-ignore
    const { tree } = fc.letrec((tie) => ({
      leaf: fc.oneof(fc.jsonValue({ maxDepth: 1 }), fc.nat({ max: 3 })),
      tree: fc.oneof(
        { maxDepth: 4, withCrossShrink: true },
        tie('leaf'),
        fc.dictionary(key, tie('tree'), { minKeys: 1, maxKeys: 3 }),
      ),
    }));
    fc.assert(
      fc.property(
        fc.array(fc.dictionary(key, tree, { minKeys: 1, maxKeys: 1 }), { maxLength: 4 }),
        (events) => {
          const decoder = new ConverseDecoder();
          for (const event of events) {
            try {
              decoder.decode(JSON.stringify(event));
            } catch (error) {
              expect(error).toBeInstanceOf(UpstreamFailure);
            }
          }
        },
      ),
      fuzzRuns(),
    );
  });

  it('takes apart a text event into a template that matches every other text of the block', () => {
    const decoder = new ConverseDecoder();
    const parser = new AwsEventStreamParser();
    const [event = ''] = parser.push(eventFrame(...text('first "quoted"', 3)));
    const template = decoder.templateOf(event);
    expect(template).toEqual({
      before: '{"contentBlockDelta":{"contentBlockIndex":3,"delta":{"text":"',
      after: '"}}}',
      index: 0,
    });
    fc.assert(
      fc.property(unicodeText(), (value) => {
        const [other = ''] = parser.push(eventFrame(...text(value, 3)));
        expect(other.startsWith(template?.before ?? '?')).toBe(true);
        expect(other.endsWith(template?.after ?? '?')).toBe(true);
        const body = other.slice(template?.before.length, -(template?.after.length ?? 0));
        const [choice] = decoder.decode(other).choices;
        expect(JSON.parse(`"${body}"`)).toBe(choice?.content);
      }),
      fuzzRuns(),
    );
  });

  it.each([
    '{"contentBlockDelta":{"contentBlockIndex":0,"delta":{"text":"a","x":{"y":"z"}}}',
    '{"contentBlockDelta":{"contentBlockIndex":0,"delta":{"toolUse":{"input":"a"}}}}',
    '{"contentBlockDelta":{"delta":{"text":"a"},"contentBlockIndex":0}}',
    '{"messageStop":{"stopReason":"end_turn"}}',
    '{"throttlingException":{"message":"a"}}',
  ])('has no template for %s', (event) => {
    expect(new ConverseDecoder().templateOf(event)).toBeUndefined();
  });

  it.each([
    ['throttlingException', 'throttled'],
    ['serviceUnavailableException', 'unavailable'],
    ['internalServerException', 'failed'],
    ['modelStreamErrorException', 'failed'],
    ['modelTimeoutException', 'timed_out'],
    ['validationException', 'rejected'],
    ['someNewException', 'failed'],
  ])('reports the exception %s', (type, kind) => {
    const [event = ''] = new AwsEventStreamParser().push(exceptionFrame(type, { message: 'It failed.' }));
    const { choices, error } = new ConverseDecoder().decode(event);
    expect(choices).toEqual([]);
    expect(error).toMatchObject({ message: 'It failed.', type });
    expect(error && converse.kindOfError(error, undefined, 'model')).toBe(kind);
  });

  it('reports an error without payload', () => {
    const event = '{"__type":"InternalError","message":"Oops"}';
    expect(new ConverseDecoder().decode(event).error).toMatchObject({
      type: 'InternalError',
      message: 'Oops',
    });
  });
});
