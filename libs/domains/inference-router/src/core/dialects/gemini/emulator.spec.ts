import { noHeader } from '../../../testing/assemble';
import { startModelEmulator, type ModelEmulator } from '@gateway/model-emulator';
import { asObject, parseJson, type JsonObject } from '../../completion/json';
import { UpstreamFailure } from '../../failure/upstream-failure';
import { SseParser } from '../../framing/sse-parser';
import type { DecodedEvent, ReadResponse } from '../dialect';
import { gemini } from './index';

/** The emulator verifies what Gemini does: unknown fields, the order of results, and signatures with their content. */
let emulator: ModelEmulator;

beforeAll(async () => {
  emulator = await startModelEmulator();
});
afterAll(() => emulator.close());

interface Call {
  readonly model?: string;
  readonly stream?: boolean;
  readonly n?: number;
}

async function post(request: object, { model = 'emu-standard', stream = false, n = 1 }: Call) {
  const call = {
    providerModel: model,
    stream,
    maxOutputTokens: 2_000,
    n,
    exactSeed: undefined,
    signer: 'aaaaaaaaaaaa',
    ownsUntagged: true,
    options: {
      host: undefined,
      maxTokensParameter: 'max_tokens',
      developerAsSystem: true,
      forwardReasoningContent: false,
      drops: [],
      reasoningBudgets: undefined,
    },
  } as const;
  const body = await gemini.encodeRequest(Buffer.from(JSON.stringify(request)), call, () =>
    Promise.resolve(),
  );
  const response = await fetch(`${emulator.url}${gemini.path(call)}`, {
    method: 'POST',
    body: Buffer.from(body),
    redirect: 'manual',
  });
  return { status: response.status, text: await response.text() };
}

function decode(text: string, stream: boolean, n: number): readonly (DecodedEvent | ReadResponse)[] {
  if (!stream) return [gemini.readResponse(asObject(parseJson(text)) as JsonObject, n)];
  const parser = new SseParser();
  const decoder = gemini.createDecoder(n);
  return [...parser.push(Buffer.from(text)), ...parser.end()].map((event) => decoder.decode(event));
}

/** Completes a request, and returns the message as a client sends it in its next request. */
async function complete(request: object, call: Call = {}) {
  const { status, text } = await post(request, call);
  if (status !== 200) throw new Error(`HTTP ${status}: ${text}`);
  const events = decode(text, call.stream ?? false, call.n ?? 1);
  const deltas = events.flatMap(({ choices }) => choices);
  const joined = (texts: readonly (string | null)[]) => texts.map((one) => one ?? '').join('');
  return {
    message: {
      role: 'assistant',
      content: joined(deltas.map(({ content }) => content)),
      reasoning_details: deltas.flatMap(({ reasoningDetails }) => reasoningDetails ?? []),
    },
    toolCalls: deltas
      .flatMap(({ toolCalls }) => toolCalls)
      .map(({ index, name, arguments: args, extraContent }) => ({
        id: `call_${index}`,
        type: 'function',
        function: { name, arguments: args },
        extra_content: extraContent,
      })),
    reasoning: joined(deltas.map(({ reasoning }) => reasoning)),
    deltas,
    finish: deltas.at(-1)?.finishReason,
    usage: events.flatMap(({ usage }) => usage ?? []).at(-1),
    error: events.find(({ error }) => error !== undefined)?.error,
  };
}

const user = (content: string) => ({ role: 'user', content });
const WEATHER = {
  type: 'function',
  function: {
    name: 'get_weather',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
};

describe.each([true, false])('with the emulator, streaming: %s', (stream) => {
  const call: Call = { model: 'emu-reasoner', stream };
  const base = { tools: [WEATHER], reasoning_effort: 'low' };
  const ask = user('get_weather [[calls:2]]');
  const results = [
    { role: 'tool', tool_call_id: 'call_1', content: 'wet' },
    { role: 'tool', tool_call_id: 'call_0', content: 'dry' },
  ];

  it('a loop of tool calls returns each signature in its place', async () => {
    const first = await complete({ ...base, messages: [ask] }, call);
    expect(first).toMatchObject({ finish: 'tool_calls', usage: { reasoningTokens: 32 } });
    expect(first.reasoning).not.toBe('');
    expect(first.toolCalls).toHaveLength(2);
    const step = { ...first.message, content: null, tool_calls: first.toolCalls };
    const second = await complete({ ...base, messages: [ask, step, ...results] }, call);
    expect(second.finish).toBe('stop');
    expect(second.message.reasoning_details).toHaveLength(1);
    const third = await complete({ messages: [ask, step, ...results, second.message, user('thanks')] }, call);
    expect(third.finish).toBe('stop');
  });

  it('a text that was changed does not pass with its signature', async () => {
    const { message } = await complete({ messages: [user('hi')] }, call);
    const changed = { ...message, content: `x${message.content}` };
    const refused = await post({ messages: [user('hi'), changed, user('hi')] }, call);
    expect(refused).toMatchObject({ status: 400, text: expect.stringContaining('signature is not valid') });
  });

  it('a loop continues when the client dropped the signatures', async () => {
    const { toolCalls } = await complete({ ...base, messages: [ask] }, call);
    const dropped = toolCalls.map(({ id, type, function: called }) => ({ id, type, function: called }));
    const step = { role: 'assistant', content: null, tool_calls: dropped };
    expect((await complete({ ...base, messages: [ask, step, ...results] }, call)).finish).toBe('stop');
  });

  it('faults that leave the response legal change nothing else', async () => {
    for (const fault of ['crlf', 'comments', 'multi-line', 'byte-by-byte', 'no-done']) {
      const same = await complete({ messages: [user(`[[say:Grüße, 世界]] [[fault:${fault}]]`)] }, { stream });
      expect(same.message.content).toBe('Grüße, 世界');
      expect(same.finish).toBe('stop');
      expect(same.usage?.completionTokens).toBeGreaterThan(0);
    }
    const filtered = await complete({ messages: [user('x [[fault:content-filter]]')] }, { stream });
    expect(filtered.finish).toBe('content_filter');
    const uncounted = await complete({ messages: [user('x [[fault:no-usage]]')] }, { stream });
    expect(uncounted.usage).toBeUndefined();
  });
});

it('several completions, log probabilities and parameters are encoded as Gemini reads them', async () => {
  const { deltas, usage } = await complete(
    {
      messages: [{ role: 'system', content: 'Be brief.' }, user('vary [[tokens:40]]')],
      temperature: 0,
      top_p: 1,
      top_k: 3,
      seed: 7,
      stop: ['never'],
      presence_penalty: 0,
      frequency_penalty: 0,
      logprobs: true,
      top_logprobs: 2,
    },
    { n: 3 },
  );
  expect(deltas.map(({ index }) => index)).toEqual([0, 1, 2]);
  expect(new Set(deltas.map(({ content }) => content)).size).toBe(3);
  expect(deltas[0]?.logprobs?.content).toHaveLength(40);
  expect(usage?.completionTokens).toBe(120);
});

it('a stream that breaks has an error, is unreadable, or lacks its finish reason', async () => {
  const broken = (fault: string) =>
    complete({ messages: [user(`x [[tokens:9]] [[fault:${fault}:3]]`)] }, { stream: true });
  const failed = await broken('error-event');
  expect(failed.error && gemini.kindOfError(failed.error, undefined, 'emu-standard')).toBe('failed');
  await expect(broken('malformed-chunk')).rejects.toThrow(UpstreamFailure);
  const early = await broken('end-early');
  expect(early.finish).toBeUndefined();
  expect(early.usage?.completionTokens).toBe(3);
});

it.each([
  ['400', 'rejected', undefined],
  ['401', 'misconfigured', undefined],
  ['403', 'misconfigured', undefined],
  ['404', 'misconfigured', undefined],
  ['408', 'timed_out', undefined],
  ['429:7', 'throttled', 7_000],
  ['500', 'failed', undefined],
  ['502', 'failed', undefined],
  ['503', 'unavailable', undefined],
  ['504', 'failed', undefined],
  ['context-length', 'context_too_long', undefined],
  ['html', 'failed', undefined],
  ['redirect', 'misconfigured', undefined],
])('the fault %s is %s', async (fault, kind, retryAfterMs) => {
  const { status, text } = await post({ messages: [user(`x [[fault:${fault}]]`)] }, {});
  const error = gemini.readError(parseJson(text), noHeader);
  expect(gemini.kindOfError(error, status, 'emu-standard')).toBe(kind);
  expect(error.retryAfterMs).toBe(retryAfterMs);
});
