import type { UnixMs } from '@gateway/base';
import { GatewayError } from '@gateway/errors';
import { UsageSource } from '@gateway/contracts/common';
import {
  beginStream,
  chunk,
  completion,
  DONE,
  helloCompletion,
  helloStream,
  json,
  ScriptedProvider,
  sse,
  stream,
  usageChunk,
} from '../testing/scripted-provider';
import {
  chunksOf,
  deferred,
  generateRequest,
  model,
  PRICES,
  provider,
  RouterUnderTest,
} from '../testing/router-under-test';

let upstream: ScriptedProvider;
let router: RouterUnderTest;

beforeAll(async () => {
  upstream = await ScriptedProvider.start();
  const plain = model([provider('one', upstream.url)], { id: 'acme/thinking' });
  const targets = plain.targets.map((target) => ({ ...target, forwardReasoningContent: true }));
  const thinking = { ...plain, targets };
  router = await RouterUnderTest.start([
    model([provider('one', upstream.url)]),
    model(
      [
        provider('two', upstream.url, {
          developerAsSystem: true,
          maxTokensParameter: 'max_completion_tokens',
        }),
      ],
      {
        id: 'acme/mapped',
      },
    ),
    model([provider('one', upstream.url)], { id: 'acme/off', disabled: true }),
    thinking,
  ]);
});

afterAll(async () => {
  await router.stop();
  await upstream.stop();
});

beforeEach(() => {
  router.events.length = 0;
});

const countedMissing = () =>
  router.metric('gateway_inference_router_usage_counted_total', { reason: 'missing' });

const streamed = (changes = {}) => generateRequest({ stream: true, ...changes });

it('a body of megabytes reaches the provider as it is', async () => {
  upstream.play(helloCompletion);
  const content = 'x'.repeat(3 * 1024 * 1024);
  const bodyJson = Buffer.from(JSON.stringify({ messages: [{ role: 'user', content }] }));
  const { finished } = await router.collect(generateRequest({ bodyJson }));
  expect(finished?.finishReason).toBe('stop');
  expect(upstream.calls.map(({ body }) => body['messages'])).toEqual([[{ role: 'user', content }]]);
});

describe('an answer that is not streamed', () => {
  it('comes with our id, the model that was asked for, and its cost', async () => {
    upstream.play(helloCompletion);
    const { finished, frames } = await router.collect(generateRequest({ generationId: 'gen-A' }));
    expect(frames).toEqual([]);
    expect(JSON.parse(String(finished?.responseJson))).toEqual({
      id: 'gen-A',
      object: 'chat.completion',
      created: 1_764_000_000,
      model: 'acme/m-1',
      system_fingerprint: 'fp_1',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'Hello', refusal: null },
          logprobs: null,
          finish_reason: 'stop',
        },
      ],
      usage: {
        prompt_tokens: 10,
        completion_tokens: 2,
        total_tokens: 12,
        prompt_tokens_details: { cached_tokens: 0 },
        completion_tokens_details: { reasoning_tokens: 0 },
        cost: 0.000014,
      },
    });
    expect(finished).toMatchObject({ finishReason: 'stop', costNanoUsd: 14_000n });
  });

  it('is charged each kind of token at its own price', async () => {
    const usage = {
      prompt_tokens: 90,
      completion_tokens: 8,
      prompt_tokens_details: { cached_tokens: 30, image_tokens: 20 },
      completion_tokens_details: { reasoning_tokens: 6 },
    };
    upstream.play(json(completion({ content: 'Hello' }, usage)));
    const inputParts = { images: 1, estimatedImageTokens: 20, hasDefinitions: false };
    const { finished } = await router.collect(generateRequest({ inputParts, estimatedInputTokens: 80 }));
    const cost = 40n * 1_000n + 30n * 100n + 20n * 700n + 2n * 2_000n + 6n * 5_000n;
    expect(finished?.costNanoUsd).toBe(cost);
    expect(JSON.parse(String(finished?.responseJson))).toMatchObject({ usage: { cost: 0.000091 } });
    expect(router.events[0]).toMatchObject({
      usage: { promptTokens: 90, cachedTokens: 30, imageTokens: 20, completionTokens: 8, reasoningTokens: 6 },
      prices: PRICES,
    });
  });

  it('keeps tool calls, reasoning text and log probabilities, and nothing the provider added', async () => {
    const message = {
      content: null,
      reasoning: 'Let me think',
      annotations: [],
      tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: { a: 1 } }, extra: 1 }],
    };
    upstream.play(json(completion(message, { prompt_tokens: 5, completion_tokens: 5 }, 'tool_calls')));
    const { finished } = await router.collect(generateRequest());
    const [choice] = (JSON.parse(String(finished?.responseJson)) as { choices: unknown[] }).choices;
    expect(choice).toEqual({
      index: 0,
      message: {
        role: 'assistant',
        content: null,
        refusal: null,
        reasoning_content: 'Let me think',
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{"a":1}' } }],
      },
      logprobs: null,
      finish_reason: 'tool_calls',
    });
  });
});

describe('the request to the provider', () => {
  it('is our fields followed by the body as it came', async () => {
    upstream.play(helloCompletion);
    await router.collect(
      generateRequest({ n: 2, bodyJson: Buffer.from(' { "messages": [], "seed": 1e2 }') }),
    );
    expect(upstream.calls[0]).toMatchObject({
      path: '/v1/chat/completions',
      headers: { authorization: 'Bearer sk-provider-secret-1234567890', 'content-type': 'application/json' },
      body: { model: 'upstream-model', stream: false, max_tokens: 100, n: 2, messages: [], seed: 100 },
    });
    expect(upstream.calls[0]?.body).not.toHaveProperty('stream_options');
  });

  it('always asks for usage when streamed, and takes an empty body', async () => {
    upstream.play(helloStream);
    await router.collect(streamed({ bodyJson: Buffer.from('{}') }));
    expect(upstream.calls[0]?.body).toEqual({
      model: 'upstream-model',
      stream: true,
      stream_options: { include_usage: true },
      max_tokens: 100,
    });
  });

  it('uses the names that the provider knows for the limit and the developer role', async () => {
    upstream.play(helloCompletion);
    const body = { messages: [{ role: 'developer', content: 'be "developer"' }], seed: 1 };
    await router.collect(
      generateRequest({ modelId: 'acme/mapped', bodyJson: Buffer.from(JSON.stringify(body)) }),
    );
    expect(upstream.calls[0]?.body).toEqual({
      model: 'upstream-model',
      stream: false,
      max_completion_tokens: 100,
      messages: [{ role: 'system', content: 'be "developer"' }],
      seed: 1,
    });
  });
});

describe('what only some targets take', () => {
  const thoughts = { role: 'assistant', content: 'Hi', reasoning_content: 'Let me think' };
  const bodyJson = Buffer.from(JSON.stringify({ messages: [thoughts, { role: 'user', content: 'And?' }] }));

  it('the thoughts of earlier turns go to targets that want them', async () => {
    upstream.play(helloCompletion);
    await router.collect(generateRequest({ modelId: 'acme/thinking', bodyJson }));
    expect(upstream.calls[0]?.body['messages']).toEqual([thoughts, { role: 'user', content: 'And?' }]);
  });

  it('and to no other', async () => {
    upstream.play(helloCompletion);
    await router.collect(generateRequest({ bodyJson }));
    expect(upstream.calls[0]?.body['messages']).toEqual([
      { role: 'assistant', content: 'Hi' },
      { role: 'user', content: 'And?' },
    ]);
  });

  it('a seed of 64 bits arrives digit by digit', async () => {
    upstream.play(helloCompletion);
    await router.collect(generateRequest({ exactSeed: 9_223_372_036_854_775_807n }));
    expect(upstream.calls[0]?.text).toContain('"seed":9223372036854775807');
  });
});

describe('a stream', () => {
  it('arrives in our shape, without usage unless asked for', async () => {
    upstream.play(helloStream);
    const { chunks, finished } = await router.collect(streamed({ generationId: 'gen-S' }));
    const expected = (delta: object, finish: string | null = null) => ({
      id: 'gen-S',
      object: 'chat.completion.chunk',
      created: 1_764_000_000,
      model: 'acme/m-1',
      system_fingerprint: 'fp_1',
      choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
    });
    expect(chunks).toEqual([
      expected({ role: 'assistant', content: '' }),
      expected({ content: 'Hello' }),
      expected({ content: ' world' }),
      expected({}, 'stop'),
    ]);
    expect(finished).toMatchObject({
      finishReason: 'stop',
      usage: { promptTokens: 10, completionTokens: 2 },
      costNanoUsd: 14_000n,
    });
    expect(finished?.responseJson).toBeUndefined();
  });

  it('says usage null on every chunk and the usage with its cost on the last, when asked for', async () => {
    upstream.play(helloStream);
    const { chunks } = await router.collect(streamed({ includeUsage: true }));
    expect(chunks.slice(0, -1).every((one) => one['usage'] === null)).toBe(true);
    expect(chunks.at(-1)).toMatchObject({
      system_fingerprint: 'fp_1',
      choices: [],
      usage: { prompt_tokens: 10, cost: 0.000014 },
    });
  });

  it('sends chunks that arrive together as one message', async () => {
    upstream.play(helloStream);
    const { frames } = await router.collect(streamed());
    expect(frames).toHaveLength(1);
  });

  it('is the same text whatever bytes travel together', async () => {
    const text = 'Grüße 👩‍👩‍👧 "quoted" \\ back\nline';
    const whole =
      sse(chunk({ role: 'assistant', content: '' }), ...[...text].map((content) => chunk({ content }))) +
      sse(chunk({}, 'stop'), usageChunk(3, 5)) +
      DONE;
    upstream.play(async (response) => {
      beginStream(response);
      for (const byte of Buffer.from(whole)) response.write(Buffer.of(byte));
      response.end();
    });
    const { chunks, frames } = await router.collect(streamed());
    const deltas = chunks as unknown as { choices: { delta: { content?: string } }[] }[];
    expect(deltas.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).toBe(text);
    for (const frame of frames) expect(() => chunksOf(frame)).not.toThrow();
  });

  it('adds the role and completes the end that a sloppy provider leaves out', async () => {
    upstream.play(stream(chunk({ content: 'Hi' })));
    const { chunks, error } = await router.collect(streamed());
    expect(error).toBeUndefined();
    expect(chunks).toMatchObject([
      { choices: [{ delta: { role: 'assistant', content: 'Hi' }, finish_reason: null }] },
      { choices: [{ delta: {}, finish_reason: 'stop' }] },
    ]);
  });

  it('needs no [DONE] once the finish_reason was there', async () => {
    upstream.play((response) => {
      beginStream(response);
      response.end(sse(chunk({ content: 'Hi' }), chunk({}, 'length')));
    });
    const { finished } = await router.collect(streamed());
    expect(finished?.finishReason).toBe('length');
  });
});

describe('the end of a generation', () => {
  it('is durable before the last message arrives', async () => {
    upstream.play(helloStream);
    const asked = deferred();
    const allowed = deferred();
    router.beforeAppend = () => {
      asked.resolve();
      return allowed.promise;
    };
    const messages = router.generate(streamed());
    await messages.next();
    let arrived = false;
    const last = messages.next().finally(() => (arrived = true));
    await asked.promise;
    await new Promise((resolve) => setImmediate(resolve));
    expect(arrived).toBe(false);
    allowed.resolve();
    expect((await last).value).toMatchObject({ event: { $case: 'finished' } });
    expect(router.events).toHaveLength(1);
    router.beforeAppend = () => Promise.resolve();
  });

  it('carries everything the ledger needs', async () => {
    upstream.play(helloStream);
    await router.collect(
      streamed({ generationId: 'gen-E', externalUser: 'u-1', idempotencyScope: 'scope-1' }),
      { metadata: { traceparent: '00-trace' } },
    );
    expect(router.headers.at(-1)).toEqual({ traceparent: '00-trace' });
    const [event] = router.events;
    expect(event).toMatchObject({
      generationId: 'gen-E',
      organizationId: 'org-1',
      keyId: 'key-1',
      requestId: 'req-1',
      modelId: 'acme/m-1',
      provider: 'one',
      providerModel: 'upstream-model',
      createdUnixMs: 1_764_000_000_123n,
      streamed: true,
      cancelled: false,
      finishReason: 'stop',
      usage: { promptTokens: 10, cachedTokens: 0, imageTokens: 0, completionTokens: 2, reasoningTokens: 0 },
      usageSource: UsageSource.USAGE_SOURCE_PROVIDER,
      externalUser: 'u-1',
      prices: PRICES,
    });
    const stored = JSON.parse(String(event?.idempotentOutcome?.responseJson)) as object;
    expect(stored).toMatchObject({ id: 'gen-E', choices: [{ message: { content: 'Hello world' } }] });
    expect(event?.idempotentOutcome?.scope).toBe('scope-1');
  });

  it('carries the calls to providers and when the first output came, of which an empty event is none', async () => {
    let now = 1_764_000_000_123;
    const clock = { now: () => now as UnixMs };
    const timed = await RouterUnderTest.start([model([provider('one', upstream.url)])], { clock });
    const output = deferred();
    upstream.play(async (response) => {
      beginStream(response);
      response.write(sse(chunk({ role: 'assistant', content: '' })));
      await output.promise;
      response.end(sse(chunk({ content: 'Hello' }), chunk({}, 'stop')) + DONE);
    });
    const messages = timed.generate(streamed());
    await messages.next();
    now += 250;
    output.resolve();
    for (let next = await messages.next(); !next.done; next = await messages.next());
    await timed.stop();
    expect(timed.events[0]).toMatchObject({
      latencyMs: 0,
      timeToFirstTokenMs: 250,
      attempts: [{ provider: 'one', providerModel: 'upstream-model', outcome: 'ok', durationMs: 250 }],
    });
  });

  it('has no time of a first output when it was not streamed', async () => {
    upstream.play(helloCompletion);
    await router.collect(generateRequest());
    expect(router.events[0]?.timeToFirstTokenMs).toBeUndefined();
  });

  it('counts the tokens of an answer without a usage block', async () => {
    upstream.play(stream(chunk({ content: 'Hello world, how are you?' }), chunk({}, 'stop')));
    const before = await countedMissing();
    await router.collect(streamed());
    expect(router.events[0]).toMatchObject({
      usage: { promptTokens: 9, completionTokens: 7 },
      usageSource: UsageSource.USAGE_SOURCE_COUNTED,
    });
    expect(await countedMissing()).toBe(before + 1);
  });
});

it('records the end of a generation whose output nobody has time to count, estimated from below', async () => {
  const busy = await RouterUnderTest.start([model([provider('one', upstream.url)])], {
    tokenCounter: { countAll: () => Promise.reject(new GatewayError('no_capacity')) },
  });
  upstream.play(stream(chunk({ content: 'x'.repeat(41) }), chunk({}, 'stop')));
  await busy.collect(streamed());
  expect(busy.events[0]).toMatchObject({
    usage: { completionTokens: 11 },
    usageSource: UsageSource.USAGE_SOURCE_COUNTED,
  });
  expect(await busy.metric('gateway_inference_router_usage_estimated_total')).toBe(1);
  await busy.stop();
});

it('refuses an unknown and a disabled model alike', async () => {
  for (const modelId of ['acme/none', 'acme/off']) {
    const { error } = await router.collect(generateRequest({ modelId }));
    expect(error).toBeInstanceOf(GatewayError);
    expect(error).toMatchObject({ code: 'model_not_found' });
  }
});
