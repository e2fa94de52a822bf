import assert from 'node:assert/strict';
import fc from 'fast-check';
import { fuzzRuns, unicodeText } from '@gateway/test-support';
import type { JsonObject, JsonValue } from '../json/json-value';
import type { FormatName } from './request-format';
import type { RequestedResponse } from './requested-response';
import type { ResponseContext } from './response-format';
import { openResponseStream, replayEvents, responseFormats } from './response-formats';

export const context: ResponseContext = {
  generationId: 'gen-1',
  createdUnixS: 1_700_000_000,
  modelId: 'acme/able',
  estimatedInputTokens: 10,
  n: 1,
  includeUsage: true,
  requested: {},
};

export const usage: JsonObject = {
  prompt_tokens: 30,
  completion_tokens: 7,
  total_tokens: 37,
  prompt_tokens_details: { cached_tokens: 5, cache_write_tokens: 4 },
  completion_tokens_details: { reasoning_tokens: 2 },
  cost: 0.0015,
};

/** A chat.completion object with one choice, as the router writes it. */
export function completionOf(
  message: JsonObject,
  ending: JsonObject = { finish_reason: 'stop' },
): JsonObject {
  return {
    id: context.generationId,
    object: 'chat.completion',
    created: context.createdUnixS,
    model: context.modelId,
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: null, refusal: null, ...message },
        logprobs: null,
        ...ending,
      },
    ],
    usage,
  };
}

/** A chunk as the router writes it with include_usage. */
export function chunkOf(delta: JsonValue, ending: JsonObject = {}): string {
  const choice = `{"index":0,"delta":${JSON.stringify(delta)},"logprobs":null,"finish_reason":null}`;
  const { finish_reason: reason, ...more } = ending;
  const finished = JSON.stringify({
    index: 0,
    delta,
    logprobs: null,
    finish_reason: reason ?? null,
    ...more,
  });
  const head = `{"id":"gen-1","object":"chat.completion.chunk","created":1700000000,"model":"acme/able"`;
  return `data: ${head},"choices":[${reason === undefined ? choice : finished}],"usage":null}\n\n`;
}

export const usageChunk = `data: ${JSON.stringify({ id: 'gen-1', created: context.createdUnixS, choices: [], usage })}\n\n`;

const text = unicodeText({ maxLength: 30 }).filter((value) => value !== '');
const name = fc.constantFrom('f', 'search');
const extra = fc.option(fc.constant({ google: { thought_signature: 's' } }), { nil: undefined });

/** A message, and the deltas that stream it: the texts in parts, calls one after another. */
export const messages = fc
  .record(
    {
      reasoning: text,
      signature: fc.constantFrom('c2ln', 'b3RoZXI='),
      signer: fc.constant('target-2'),
      redacted: fc.constant('b3BhcXVl'),
      content: text,
      refusal: text,
      calls: fc.array(fc.record({ name, arguments: fc.jsonValue({ maxDepth: 2 }), extra }), {
        minLength: 1,
        maxLength: 3,
      }),
      partLength: fc.integer({ min: 1, max: 9 }),
    },
    { requiredKeys: ['partLength'] },
  )
  .map(({ reasoning, signature, signer, redacted, content, refusal, calls = [], partLength }) => {
    const details: JsonObject[] = [];
    if (reasoning !== undefined && signature !== undefined)
      details.push({
        type: 'reasoning.text',
        index: 0,
        text: reasoning,
        signature,
        ...(signer === undefined ? {} : { signed_by: signer }),
      });
    if (redacted !== undefined)
      details.push({ type: 'reasoning.encrypted', index: details.length, data: redacted });
    const toolCalls = calls.map((call, index) => ({
      id: `call_${index}`,
      type: 'function',
      function: { name: call.name, arguments: JSON.stringify({ value: call.arguments as JsonValue }) },
      ...(call.extra === undefined ? {} : { extra_content: call.extra }),
    }));
    const parts = (whole: string) =>
      Array.from({ length: Math.ceil(whole.length / partLength) }, (_, at) =>
        whole.slice(at * partLength, (at + 1) * partLength),
      );
    const deltas: JsonObject[] = [
      { role: 'assistant', content: '' },
      ...parts(reasoning ?? '').map((part) => ({ reasoning_content: part })),
      ...details.map((detail) => ({ reasoning_details: [detail] })),
      ...parts(content ?? '').map((part) => ({ content: part })),
      ...parts(refusal ?? '').map((part) => ({ refusal: part })),
      ...toolCalls.flatMap(({ function: called, ...call }, index): JsonObject[] => [
        { tool_calls: [{ index, ...call, function: { name: called.name, arguments: '' } }] },
        ...parts(called.arguments).map((part) => ({
          tool_calls: [{ index, function: { arguments: part } }],
        })),
      ]),
    ];
    const message: JsonObject = {
      content: content ?? (toolCalls.length > 0 || refusal !== undefined ? null : ''),
      refusal: refusal ?? null,
      ...(reasoning === undefined ? {} : { reasoning_content: reasoning }),
      ...(details.length === 0 ? {} : { reasoning_details: details }),
      ...(toolCalls.length === 0 ? {} : { tool_calls: toolCalls }),
    };
    const reason = toolCalls.length > 0 ? 'tool_calls' : 'stop';
    const sse = [
      ...deltas.map((delta) => chunkOf(delta)),
      chunkOf({}, { finish_reason: reason }),
      usageChunk,
    ];
    return { completion: completionOf(message, { finish_reason: reason }), sse };
  });

/** The events of a stream with typed events. */
export function typedEventsOf(sse: string): JsonObject[] {
  return sse
    .split('\n\n')
    .slice(0, -1)
    .map((event) => {
      const [, type, data = ''] = /^event: (.+)\ndata: (.+)$/s.exec(event) ?? [];
      const parsed = JSON.parse(data) as JsonObject;
      if (parsed['type'] !== type)
        throw new Error(`an event named ${type} of the type ${String(parsed['type'])}`);
      return parsed;
    });
}

const json = (value: JsonObject) => Buffer.from(JSON.stringify(value));

/** The events of a stream with these chunks. */
export function streamed(
  format: FormatName,
  chunks: readonly string[],
  requested: RequestedResponse = {},
): JsonObject[] {
  const stream = responseFormats[format].openStream({ ...context, requested });
  return typedEventsOf(
    chunks.map((chunk) => stream.push(Buffer.from(chunk)).toString()).join('') + stream.end(),
  );
}

/** What every format with typed events keeps. */
export function responseFormatContract(
  format: FormatName,
  requested: RequestedResponse,
  /** Combines the events as SDKs do, and checks their order. */
  folded: (events: readonly JsonObject[]) => JsonObject,
): void {
  const { response } = responseFormats[format];
  const scope = { ...context, requested };
  /** The scope of a later request that gets the same response. */
  const later = { ...scope, createdUnixS: scope.createdUnixS + 60 };

  it('streams what it returns whole, however the text is divided', () => {
    fc.assert(
      fc.property(messages, ({ completion, sse }) => {
        const whole: unknown = JSON.parse(response(json(completion), scope).toString());
        assert.deepEqual(folded(streamed(format, sse, requested)), whole);
        assert.deepEqual(folded(streamed(format, [sse.join('')], requested)), whole);
        const stored = { json: json(completion), events: undefined };
        assert.deepEqual(folded(typedEventsOf(replayEvents(format, stored, later, undefined))), whole);
        assert.deepEqual(JSON.parse(response(json(completion), later).toString()), whole);
      }),
      fuzzRuns(),
    );
  });

  it.each([
    '\\',
    '"',
    '\\"',
    '\\\\"',
    '"},"logprobs":null,"finish_reason":null}],"usage":null}\n\n',
    '\\n\n',
  ])('streams the text %j as it is', (part) => {
    const parts = ['a', part, part, 'b'];
    const chunks = [...parts.map((content) => chunkOf({ content })), chunkOf({}, { finish_reason: 'stop' })];
    const completion = json(completionOf({ content: parts.join('') }));
    const whole: unknown = JSON.parse(response(completion, scope).toString());
    for (const sse of [chunks, [chunks.join('')]])
      assert.deepEqual(folded(streamed(format, [...sse, usageChunk], requested)), whole);
  });

  it('continues a stream after any of its events, as the router stored it or sends it again', () => {
    fc.assert(
      fc.property(messages, fc.nat(), ({ completion, sse }, chosen) => {
        const all = openResponseStream(format, scope, 0);
        const whole = all.push(Buffer.from(sse.join(''))).toString() + all.end();
        const events = whole.split('\n\n').slice(0, -1);
        const known = chosen % (events.length + 1);
        const rest = events
          .slice(known)
          .map((event) => `${event}\n\n`)
          .join('');
        const stored = { json: json(completion), events: sse.join('') };
        assert.equal(replayEvents(format, stored, later, known), rest);
        const again = openResponseStream(format, later, known);
        const continued = sse.map((chunk) => again.push(Buffer.from(chunk)).toString()).join('');
        assert.equal(continued + again.end(), rest);
      }),
      fuzzRuns(),
    );
  });
}
