import assert from 'node:assert/strict';
import fc from 'fast-check';
import { GatewayError } from '@gateway/errors';
import { fuzzRuns } from '@gateway/test-support';
import type { JsonObject } from '../../json/json-value';
import { accepted, forwarded, validate } from '../../testing/chat-fixtures';
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
import type { RequestedResponse } from '../requested-response';
import type { ResponseContext } from '../response-format';
import { responsesResponse } from './response';

const RUNS = fuzzRuns();
const PACKED: RequestedResponse = { packsReasoning: true };

const contextOf = (requested: RequestedResponse) => ({ ...context, requested });

function responseOf(completion: JsonObject, scope: ResponseContext): JsonObject {
  const json = responsesResponse.response(Buffer.from(JSON.stringify(completion)), scope);
  return JSON.parse(json as string) as JsonObject;
}

const streamed = (chunks: readonly string[], requested = PACKED) =>
  streamedIn('responses', chunks, requested);

/** Combines the events as SDKs do, and checks their order and numbers. */
function folded(events: readonly JsonObject[]): JsonObject {
  assert.deepEqual(
    events.map((event) => event['sequence_number']),
    events.map((_, index) => index),
  );
  assert.deepEqual(
    events.slice(0, 2).map(({ type }) => type),
    ['response.created', 'response.in_progress'],
  );
  const last = events.at(-1)!;
  const output: JsonObject[] = [];
  let texts: Record<string, string> = {};
  for (const event of events.slice(2, -1)) {
    const { type, output_index: index, item, delta, part } = event;
    if (type === 'response.output_item.added') {
      assert.equal(index, output.length);
      texts = {};
    } else if (type === 'response.output_item.done') {
      output.push(item as JsonObject);
    } else {
      assert.equal(event['output_index'], output.length);
      const key = `${event['content_index'] ?? event['summary_index'] ?? ''}`;
      if (delta !== undefined) texts[key] = (texts[key] ?? '') + String(delta);
      if (String(type).endsWith('.done') && part === undefined) {
        const done = event['text'] ?? event['refusal'] ?? event['arguments'] ?? event['input'];
        assert.equal(done, texts[key] ?? '');
      }
    }
  }
  const { response } = last as { response: JsonObject };
  assert.equal(last['type'], `response.${response['status'] as string}`);
  assert.deepEqual(response['output'], output);
  return response;
}

describe.each([
  ['with packed reasoning', PACKED],
  ['without', {}],
  ['with a custom tool', { ...PACKED, customTools: ['f'] }],
])('a response %s', (_how, requested) => {
  responseFormatContract('responses', requested, folded);
});

it('returns to the model what its response had', () => {
  fc.assert(
    fc.property(messages, ({ completion }) => {
      const { output } = responseOf(completion, contextOf(PACKED));
      const body = {
        model: 'acme/extra',
        input: [{ role: 'user', content: 'Hi' }, ...(output as JsonObject[])],
      };
      const [{ message }] = completion['choices'] as [{ message: JsonObject }];
      const sent = (forwarded(validate(body, {}, undefined, 'responses'))['messages'] as JsonObject[]).slice(
        1,
      );
      const calls = (message['tool_calls'] ?? []) as JsonObject[];
      const hasOutput = calls.length > 0 || Boolean(message['content']) || Boolean(message['refusal']);
      expect(sent.flatMap((each) => (each['tool_calls'] ?? []) as JsonObject[])).toEqual(calls);
      const details = sent.flatMap((each) => (each['reasoning_details'] ?? []) as JsonObject[]);
      expect(details).toEqual(hasOutput ? (message['reasoning_details'] ?? []) : []);
    }),
    RUNS,
  );
});

it('reports usage in the terms of OpenAI, with the cost', () => {
  expect(responseOf(completionOf({ content: 'Hi' }), context)['usage']).toEqual({
    input_tokens: 30,
    input_tokens_details: { cached_tokens: 5, cache_write_tokens: 4 },
    output_tokens: 7,
    output_tokens_details: { reasoning_tokens: 2 },
    total_tokens: 37,
    cost: usage['cost'],
  });
});

it.each([
  ['stop', 'completed', null],
  ['tool_calls', 'completed', null],
  ['length', 'incomplete', { reason: 'max_output_tokens' }],
  ['content_filter', 'incomplete', { reason: 'content_filter' }],
])('ends with the finish reason %s as %s', (finish_reason, status, details) => {
  const whole = responseOf(completionOf({ content: 'Hi' }, { finish_reason }), context);
  expect(whole).toMatchObject({ status, incomplete_details: details, store: false });
  expect((whole['output'] as JsonObject[])[0]).toMatchObject({ status });
  const events = streamed([chunkOf({ content: 'Hi' }), chunkOf({}, { finish_reason }), usageChunk], {});
  expect(folded(events)).toEqual(whole);
});

it('returns the call of a custom tool as its text', () => {
  const call = { id: 'c', type: 'function', function: { name: 'patch', arguments: '{"input":"a\\nb"}' } };
  const requested = { customTools: ['patch'] };
  const { output } = responseOf(completionOf({ tool_calls: [call] }), contextOf(requested));
  expect(output).toEqual([
    {
      id: 'ctc_1_0',
      type: 'custom_tool_call',
      status: 'completed',
      call_id: 'c',
      name: 'patch',
      input: 'a\nb',
    },
  ]);
});

it('repeats the fields of the request, and says that nothing is stored', () => {
  const body = {
    model: 'acme/able',
    input: 'Hi',
    temperature: 0.5,
    metadata: { a: 'b' },
    reasoning: { effort: 'low' },
    text: { verbosity: 'low' },
    instructions: 'Be brief',
    include: ['reasoning.encrypted_content'],
  };
  const { response = {} } = accepted(validate(body, {}, undefined, 'responses'));
  expect(responseOf(completionOf({ content: 'Hi' }), contextOf(response))).toMatchObject({
    temperature: 0.5,
    metadata: { a: 'b' },
    reasoning: { effort: 'low', summary: null },
    text: { verbosity: 'low' },
    instructions: null,
    tools: [],
    store: false,
    previous_response_id: null,
  });
  expect(response.packsReasoning).toBe(true);
});

it('does not repeat a long schema', () => {
  const schema = { description: 'x'.repeat(20_000) };
  const text = { format: { type: 'json_schema', name: 'n', schema } };
  const { response = {} } = accepted(
    validate({ model: 'acme/able', input: 'Hi', text }, {}, undefined, 'responses'),
  );
  expect(responseOf(completionOf({ content: '{}' }), contextOf(response))['text']).toEqual({
    format: { type: 'text' },
  });
});

it('ends a failed stream as response.failed with the envelope and the output so far, also before any event', () => {
  const stream = responsesResponse.openStream(context);
  stream.push(Buffer.from(chunkOf({ content: 'Hi' })));
  const event = typedEventsOf(stream.fail(new GatewayError('upstream_error'), [])).at(-1);
  expect(event).toMatchObject({
    type: 'response.failed',
    response: { status: 'failed', error: { code: 'upstream_error', type: 'api_error', metadata: {} } },
  });
  const types = typedEventsOf(
    responsesResponse.openStream(context).fail(new GatewayError('upstream_error'), []),
  );
  expect(types.map(({ type }) => type)).toEqual([
    'response.created',
    'response.in_progress',
    'response.failed',
  ]);
});
