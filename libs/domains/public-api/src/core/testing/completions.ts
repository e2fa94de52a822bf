import fc from 'fast-check';
import { unicodeText } from '@gateway/test-support';
import type { ResponseContext } from '../formats/response-format';
import type { JsonObject, JsonValue } from '../json/json-value';

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

export const usageChunk = `data: ${JSON.stringify({ id: 'gen-1', choices: [], usage })}\n\n`;

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
