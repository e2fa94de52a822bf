import assert from 'node:assert/strict';
import fc from 'fast-check';
import { GatewayError } from '@gateway/errors';
import { fuzzRuns } from '@gateway/test-support';
import type { JsonObject } from '../../json/json-value';
import {
  chunkOf,
  completionOf,
  context,
  messages,
  responseFormatContract,
  streamed as streamedIn,
  typedEventsOf,
  usage,
  usageChunk,
} from '../response-format.contract';
import { accepted, forwarded, validate } from '../../testing/chat-fixtures';
import { messageOf, toolUseBlock } from './message';
import { messagesResponse } from './response';

const RUNS = fuzzRuns();

const streamed = (chunks: readonly string[], requested = context.requested) =>
  streamedIn('messages', chunks, requested);

/** As SDKs combine the events of a stream, and check their order. */
function folded(events: readonly JsonObject[]): JsonObject {
  const [first, second, ...rest] = events as { type: string; [name: string]: unknown }[];
  assert.deepEqual(
    [first?.type, second?.type, rest.at(-2)?.type, rest.at(-1)?.type],
    ['message_start', 'ping', 'message_delta', 'message_stop'],
  );
  const message = JSON.parse(JSON.stringify(first?.['message'])) as JsonObject & { content: JsonObject[] };
  let open: number | undefined;
  let input = '';
  for (const event of rest.slice(0, -2)) {
    const block = message.content.at(-1) as JsonObject;
    const delta = event['delta'] as JsonObject;
    if (event.type === 'content_block_start') {
      assert.deepEqual([open, event['index']], [undefined, message.content.length]);
      open = message.content.push({ ...(event['content_block'] as JsonObject) }) - 1;
      input = '';
    } else if (event.type === 'content_block_stop') {
      assert.equal(event['index'], open);
      if (input !== '') block['input'] = JSON.parse(input);
      open = undefined;
    } else {
      assert.deepEqual([event.type, event['index']], ['content_block_delta', open]);
      if (delta['type'] === 'input_json_delta') input += delta['partial_json'] as string;
      for (const name of ['text', 'thinking', 'signature'])
        if (delta[name] !== undefined) block[name] = `${block[name] as string}${delta[name] as string}`;
    }
  }
  assert.equal(open, undefined);
  const { delta, usage: cumulative } = rest.at(-2) as unknown as { delta: JsonObject; usage: JsonObject };
  return { ...message, ...delta, usage: { ...(message['usage'] as JsonObject), ...cumulative } };
}

responseFormatContract('messages', {}, folded);

it('returns to the model what its response had', () => {
  fc.assert(
    fc.property(messages, ({ completion }) => {
      const { content } = messageOf(completion, context);
      const body = {
        model: 'acme/extra',
        max_tokens: 5,
        messages: [{ role: 'assistant', content: content! }],
      };
      const [{ message }] = completion['choices'] as [{ message: JsonObject }];
      const sent = forwarded(validate(body, {}, undefined, 'messages'))['messages'] as JsonObject[];
      const returned = sent.flatMap((each) => (each['reasoning_details'] ?? []) as JsonObject[]);
      const details = ((message['reasoning_details'] ?? []) as JsonObject[]).map(
        ({ index: _, ...rest }) => rest,
      );
      expect(returned.map(({ index: _, ...rest }) => rest)).toEqual(details);
      expect(sent.flatMap((each) => (each['tool_calls'] ?? []) as JsonObject[])).toEqual(
        message['tool_calls'] ?? [],
      );
    }),
    RUNS,
  );
});

it('reports usage in the terms of Anthropic: input without what the cache read and wrote', () => {
  const message = messageOf(completionOf({ content: 'Hi' }), context);
  expect(message['usage']).toMatchObject({
    input_tokens: 21,
    cache_creation_input_tokens: 4,
    cache_read_input_tokens: 5,
    output_tokens: 7,
    output_tokens_details: { thinking_tokens: 2 },
    cost: usage['cost'],
  });
});

it.each([
  [{ finish_reason: 'stop' }, 'end_turn', null],
  [{ finish_reason: 'length' }, 'max_tokens', null],
  [{ finish_reason: 'tool_calls' }, 'tool_use', null],
  [{ finish_reason: 'content_filter' }, 'refusal', null],
  [{ finish_reason: 'stop', stop_sequence: 'END' }, 'stop_sequence', 'END'],
  [{ finish_reason: 'stop', stop_sequence: '' }, 'stop_sequence', 'ONLY'],
])('ends with %j as %s', (ending, reason, sequence) => {
  const requested = { stopSequences: ['ONLY'] };
  const expected = { stop_reason: reason, stop_sequence: sequence };
  expect(messageOf(completionOf({ content: 'Hi' }, ending), { ...context, requested })).toMatchObject(
    expected,
  );
  const events = streamed([chunkOf({ content: 'Hi' }), chunkOf({}, ending), usageChunk], requested);
  expect(events.at(-2)).toMatchObject({ type: 'message_delta', delta: expected });
});

it('keeps calls apart whose arguments arrive in turns', () => {
  const start = (index: number) => ({ index, id: `c${index}`, function: { name: 'f', arguments: '' } });
  const part = (index: number, text: string) => ({ tool_calls: [{ index, function: { arguments: text } }] });
  const events = streamed([
    chunkOf({ tool_calls: [start(0)] }),
    chunkOf(part(0, '{"a":')),
    chunkOf({ tool_calls: [start(1)] }),
    chunkOf(part(1, '{"b":')),
    chunkOf(part(0, '1}')),
    chunkOf(part(1, '2}')),
    chunkOf({}, { finish_reason: 'tool_calls' }),
    usageChunk,
  ]);
  expect(folded(events)['content']).toMatchObject([
    { type: 'tool_use', id: 'c0', input: { a: 1 } },
    { type: 'tool_use', id: 'c1', input: { b: 2 } },
  ]);
});

it('closes a part of the thinking with its signature before the next one', () => {
  const detail = (index: number, text: string) => ({
    reasoning_details: [{ type: 'reasoning.text', index, text, signature: `s${index}` }],
  });
  const events = streamed([
    chunkOf({ reasoning_content: 'one' }),
    chunkOf(detail(0, 'one')),
    chunkOf({ content: 'A' }),
    chunkOf({ reasoning_content: 'two' }),
    chunkOf(detail(1, 'two')),
    chunkOf({ content: 'B' }),
    chunkOf({}, { finish_reason: 'stop' }),
    usageChunk,
  ]);
  expect(folded(events)['content']).toEqual([
    { type: 'thinking', thinking: 'one', signature: 's0' },
    { type: 'text', text: 'A', citations: null },
    { type: 'thinking', thinking: 'two', signature: 's1' },
    { type: 'text', text: 'B', citations: null },
  ]);
});

describe('the signature of a text, which comes with its end', () => {
  const signed = chunkOf({
    content: 'B',
    reasoning_details: [{ type: 'reasoning.encrypted', data: '0.2.c2ln' }],
  });
  const text = { type: 'text', text: 'AB', citations: null };
  const signature = { type: 'redacted_thinking', data: '0.2.c2ln' };

  it('is sent before the next block', () => {
    const call = { index: 0, id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } };
    const events = streamed([
      chunkOf({ content: 'A' }),
      signed,
      chunkOf({ tool_calls: [call] }),
      chunkOf({}, { finish_reason: 'tool_calls' }),
      usageChunk,
    ]);
    expect(folded(events)['content']).toEqual([text, signature, toolUseBlock('c', 'f', {})]);
  });

  it('is sent before more text', () => {
    const events = streamed([
      chunkOf({ content: 'A' }),
      signed,
      chunkOf({ content: 'AB' }),
      chunkOf({}, { finish_reason: 'stop' }),
      usageChunk,
    ]);
    expect(folded(events)['content']).toEqual([text, signature, text]);
  });

  it('is not the last block, which clients read as the response', () => {
    const events = streamed([
      chunkOf({ content: 'A' }),
      signed,
      chunkOf({}, { finish_reason: 'stop' }),
      usageChunk,
    ]);
    expect(folded(events)['content']).toEqual([text]);
  });
});

it('ends a failed stream with an error event that has the envelope', () => {
  const stream = messagesResponse.openStream(context);
  stream.push(Buffer.from(chunkOf({ content: 'Hi' })));
  const [event] = typedEventsOf(stream.fail(new GatewayError('upstream_error'), []));
  expect(event).toMatchObject({
    type: 'error',
    error: { code: 'upstream_error', type: 'api_error', metadata: {} },
  });
  expect(messagesResponse.errorBody(new GatewayError('invalid_json'))).toMatchObject({
    type: 'error',
    error: { code: 'invalid_json' },
  });
});

it('is accepted back as the next turn', () => {
  const message = messageOf(completionOf({ content: 'Hi' }), context);
  const messagesField = [{ role: 'assistant', content: message['content']! }];
  accepted(
    validate({ model: 'acme/able', max_tokens: 1, messages: messagesField }, {}, undefined, 'messages'),
  );
});
