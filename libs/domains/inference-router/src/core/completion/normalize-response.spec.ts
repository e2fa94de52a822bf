import type {
  ChoiceDelta,
  DecodedEvent,
  EventDecoder,
  ReportedUsage,
  ToolCallDelta,
} from '../dialects/dialect';
import { choiceDelta } from '../dialects/choice-delta';
import { normalizedDecoder, normalizedResponse } from './normalize-response';

const isIdInRequest = (id: string) => id === 'call_0';

const call = (index: number, part: Partial<ToolCallDelta>): ToolCallDelta => ({
  index,
  id: undefined,
  name: undefined,
  arguments: '',
  ...part,
});

const calls = (...toolCalls: ToolCallDelta[]): DecodedEvent => ({ choices: [choiceDelta({ toolCalls })] });
const finish = (finishReason: ChoiceDelta['finishReason']): DecodedEvent => ({
  choices: [choiceDelta({ finishReason })],
});
const usage = (counts: Partial<ReportedUsage>): DecodedEvent => ({
  choices: [],
  usage: {
    ...{ promptTokens: undefined, cachedTokens: undefined, cacheWriteTokens: undefined },
    ...{ cacheWrite1hTokens: undefined, imageTokens: undefined },
    ...{ completionTokens: undefined, reasoningTokens: undefined },
    ...counts,
  },
});

/** The calls and the finish reason of a stream of decoded events. */
function read(...events: DecodedEvent[]) {
  const queue = [...events];
  const decoder: EventDecoder = { decode: () => queue.shift() as DecodedEvent, templateOf: () => undefined };
  const normalized = normalizedDecoder(decoder, { isIdInRequest });
  const seen: { id: string | undefined; arguments: string }[] = [];
  let finishReason: string | undefined;
  let reported: ReportedUsage | undefined;
  for (const _ of events) {
    const event = normalized.decode('');
    reported = event.usage ?? reported;
    for (const choice of event.choices) {
      finishReason ??= choice.finishReason;
      for (const part of choice.toolCalls) {
        const known = (seen[part.index] ??= { id: part.id, arguments: '' });
        known.arguments += part.arguments;
      }
    }
  }
  return { calls: seen, finishReason, usage: reported };
}

describe('the ids of tool calls', () => {
  it('are omitted where they occur in the request or twice in the response, so that the gateway creates them', () => {
    const { calls: seen } = read(
      calls(call(0, { id: 'call_0', name: 'f' })),
      calls(call(1, { id: 'call_1', name: 'f' })),
      calls(call(2, { id: 'call_1', name: 'f' })),
    );
    expect(seen.map(({ id }) => id)).toEqual([undefined, 'call_1', undefined]);
  });

  it('are unique in a response that is not streamed, too', () => {
    const toolCalls = ['call_0', 'a', 'a'].map((id, index) =>
      call(index, { id, name: 'f', arguments: '{}' }),
    );
    const response = normalizedResponse(
      { choices: [choiceDelta({ toolCalls, finishReason: 'tool_calls' })], usage: undefined },
      { isIdInRequest },
    );
    expect(response.choices[0]?.toolCalls.map(({ id }) => id)).toEqual([undefined, 'a', undefined]);
  });
});

describe('the arguments of tool calls', () => {
  it('are an object when the call has none', () => {
    const { calls: seen } = read(calls(call(0, { name: 'f' })), finish('tool_calls'));
    expect(seen[0]?.arguments).toBe('{}');
  });

  it('are an object when the stream ends without a finish reason', () => {
    const { calls: seen } = read(calls(call(0, { name: 'f' })), { choices: [], done: true });
    expect(seen[0]?.arguments).toBe('{}');
  });

  it.each(['length', 'content_filter'] as const)(
    'stay as they are when the response was cut by %s',
    (reason) => {
      const { calls: seen, finishReason } = read(calls(call(0, { name: 'f' })), finish(reason));
      expect(seen[0]?.arguments).toBe('');
      expect(finishReason).toBe(reason);
    },
  );

  it('do not start with an empty object that precedes the real ones', () => {
    const { calls: seen } = read(
      calls(call(0, { name: 'f', arguments: '{}' })),
      calls(call(0, { arguments: '{"stock":' })),
      calls(call(0, { arguments: '"MSFT"}' })),
      finish('tool_calls'),
    );
    expect(seen[0]?.arguments).toBe('{"stock":"MSFT"}');
  });

  it.each([[['{}']], [['{}', ' ']], [['', '{}']]])(
    'keep an empty object that is all there is: %j',
    (parts) => {
      const { calls: seen } = read(
        ...parts.map((text, at) => calls(call(0, { name: at === 0 ? 'f' : undefined, arguments: text }))),
        finish('tool_calls'),
      );
      expect(seen[0]?.arguments).toBe('{}');
    },
  );

  it('are an object in a response that is not streamed, unless it was cut', () => {
    const withReason = (finishReason: ChoiceDelta['finishReason']) =>
      normalizedResponse(
        { choices: [choiceDelta({ toolCalls: [call(0, { name: 'f' })], finishReason })], usage: undefined },
        { isIdInRequest },
      ).choices[0];
    expect(withReason('stop')?.toolCalls[0]?.arguments).toBe('{}');
    expect(withReason('length')?.toolCalls[0]?.arguments).toBe('');
  });
});

describe('the finish reason', () => {
  it.each([
    ['stop', 'tool_calls'],
    ['tool_calls', 'tool_calls'],
    ['length', 'length'],
    ['content_filter', 'content_filter'],
  ] as const)('%s of a completion with calls is %s, streamed and not', (reported, expected) => {
    const toolCalls = [call(0, { name: 'f', arguments: '{"a":1}' })];
    expect(read(calls(...toolCalls), finish(reported)).finishReason).toBe(expected);
    const whole = { choices: [choiceDelta({ toolCalls, finishReason: reported })], usage: undefined };
    expect(normalizedResponse(whole, { isIdInRequest }).choices[0]?.finishReason).toBe(expected);
  });

  it('of a completion without calls stays', () => {
    expect(read({ choices: [choiceDelta({ content: 'Hi' })] }, finish('stop')).finishReason).toBe('stop');
  });
});

it('the stop sequence is named only where the request wants it, in a stream and in a response', () => {
  const choices = [choiceDelta({ content: 'a', finishReason: 'stop', stopSequence: 'END' })];
  const decoder: EventDecoder = { decode: () => ({ choices }), templateOf: () => undefined };
  for (const keepsStopSequence of [true, false]) {
    const options = { isIdInRequest, keepsStopSequence };
    const named = [
      normalizedDecoder(decoder, options).decode('').choices[0]?.stopSequence,
      normalizedResponse({ choices, usage: undefined }, options).choices[0]?.stopSequence,
    ];
    expect(named).toEqual(keepsStopSequence ? ['END', 'END'] : [undefined, undefined]);
  }
});

it('a later report of usage does not lower a count to zero', () => {
  const { usage: reported } = read(
    usage({ promptTokens: 20, completionTokens: 3, cachedTokens: 5 }),
    usage({ promptTokens: 0, completionTokens: 9, cachedTokens: undefined }),
  );
  expect(reported).toMatchObject({ promptTokens: 20, completionTokens: 9, cachedTokens: 5 });
});
