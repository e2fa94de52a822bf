import type { Prices, UnixMs } from '@gateway/base';
import { GatewayError } from '@gateway/errors';
import type { Model } from '../core/catalogue/model-catalogue';
import type { TargetOptions } from '../core/dialects/dialect';
import { UsageSource } from '@gateway/contracts/common';
import {
  startStream,
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

/** All different, also from the prices. */
const COST: Prices = {
  inputNanoUsdPerMillion: 500_000_000n,
  cachedInputNanoUsdPerMillion: 30_000_000n,
  cacheWriteNanoUsdPerMillion: 430_000_000n,
  cacheWrite1hNanoUsdPerMillion: 470_000_000n,
  outputNanoUsdPerMillion: 1_100_000_000n,
  reasoningNanoUsdPerMillion: 2_300_000_000n,
  imageNanoUsdPerMillion: 410_000_000n,
  tiers: [],
};
const COSTS = [{ ...COST, inputNanoUsdPerMillion: 999_000_000n }, COST, undefined];

let upstream: ScriptedProvider;
let router: RouterUnderTest;

beforeAll(async () => {
  upstream = await ScriptedProvider.start();
  const plain = model([provider('one', upstream.url)], { id: 'acme/thinking' });
  const withOptions = (changed: Model, options: Partial<TargetOptions>): Model => ({
    ...changed,
    targets: changed.targets.map((target) => ({ ...target, options: { ...target.options, ...options } })),
  });
  const thinking = withOptions(plain, { forwardReasoningContent: true });
  const withCosts = model(
    ['dear', 'cheap', 'unknown'].map((name) => provider(name, upstream.url, { maxAttempts: 1 })),
    { id: 'acme/costs' },
  );
  router = await RouterUnderTest.start([
    model([provider('one', upstream.url)]),
    withOptions(model([provider('two', upstream.url)], { id: 'acme/mapped' }), {
      developerAsSystem: true,
      maxTokensParameter: 'max_completion_tokens',
    }),
    model([provider('one', upstream.url)], { id: 'acme/off', disabled: true }),
    { ...withCosts, targets: withCosts.targets.map((target, index) => ({ ...target, cost: COSTS[index] })) },
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

it('a body of several megabytes reaches the provider unchanged', async () => {
  upstream.play(helloCompletion);
  const content = 'x'.repeat(3 * 1024 * 1024);
  const bodyJson = Buffer.from(JSON.stringify({ messages: [{ role: 'user', content }] }));
  const { finished } = await router.collect(generateRequest({ bodyJson }));
  expect(finished?.finishReason).toBe('stop');
  expect(upstream.calls.map(({ body }) => body['messages'])).toEqual([[{ role: 'user', content }]]);
});

describe('the provider cost of a generation', () => {
  const usage = {
    prompt_tokens: 90,
    completion_tokens: 8,
    prompt_tokens_details: { cached_tokens: 30, image_tokens: 20 },
    completion_tokens_details: { reasoning_tokens: 6 },
  };
  const request = (changes = {}) =>
    generateRequest({
      modelId: 'acme/costs',
      inputParts: { images: 1, estimatedImageTokens: 20, hasDefinitions: false },
      estimatedInputTokens: 80,
      ...changes,
    });
  const responded = json(completion({ content: 'Hello' }, usage));
  const failed = json({ error: { message: 'overloaded' } }, 500);

  it('is its billed usage at the cost of the target that responded, and not part of the response', async () => {
    upstream.play(failed, responded);
    const { finished } = await router.collect(request());
    const cost = 40n * 500n + 30n * 30n + 20n * 410n + 2n * 1_100n + 6n * 2_300n;
    expect(router.events).toMatchObject([{ provider: 'cheap', providerCostNanoUsd: cost }]);
    expect(finished?.costNanoUsd).toBe(91_000n);
    expect(String(finished?.responseJson)).not.toMatch(/provider/);
  });

  it('is of the tokens counted by the gateway when the provider reports none', async () => {
    upstream.play(failed, json({ ...completion({ content: 'Hello' }), usage: null }));
    await router.collect(request());
    const [event] = router.events;
    expect(event?.usageSource).toBe(UsageSource.USAGE_SOURCE_COUNTED);
    expect(event?.usage).toMatchObject({
      promptTokens: 80,
      cachedTokens: 0,
      cacheWriteTokens: 0,
      cacheWrite1hTokens: 0,
      imageTokens: 0,
    });
    expect(event?.providerCostNanoUsd).toBe(
      80n * 500n + BigInt(event?.usage?.completionTokens ?? 0) * 1_100n,
    );
  });

  it('is unknown when the target names no cost, and when no target responded', async () => {
    upstream.play(failed, failed, responded);
    await router.collect(request({ generationId: 'gen-B' }));
    upstream.play(failed, failed, failed);
    await router.collect(request({ generationId: 'gen-C' }));
    expect(router.events.map(({ provider, providerCostNanoUsd }) => [provider, providerCostNanoUsd])).toEqual(
      [
        ['unknown', undefined],
        ['unknown', undefined],
      ],
    );
  });
});

describe('a non-streaming response', () => {
  it('has our id, the requested model and its cost', async () => {
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
        prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
        completion_tokens_details: { reasoning_tokens: 0 },
        cost: 0.000014,
      },
    });
    expect(finished).toMatchObject({ finishReason: 'stop', costNanoUsd: 14_000n });
  });

  it('is charged for each kind of token at its own price', async () => {
    const usage = {
      prompt_tokens: 90,
      completion_tokens: 8,
      prompt_tokens_details: { cached_tokens: 30, cache_write_tokens: 15, image_tokens: 20 },
      completion_tokens_details: { reasoning_tokens: 6 },
    };
    upstream.play(json(completion({ content: 'Hello' }, usage)));
    const inputParts = { images: 1, estimatedImageTokens: 20, hasDefinitions: false };
    const { finished } = await router.collect(generateRequest({ inputParts, estimatedInputTokens: 80 }));
    const cost = 25n * 1_000n + 30n * 100n + 15n * 1_250n + 20n * 700n + 2n * 2_000n + 6n * 5_000n;
    expect(finished?.costNanoUsd).toBe(cost);
    expect(JSON.parse(String(finished?.responseJson))).toMatchObject({
      usage: { prompt_tokens_details: { cache_write_tokens: 15 }, cost: 0.00009475 },
    });
    expect(router.events[0]).toMatchObject({
      usage: {
        promptTokens: 90,
        cachedTokens: 30,
        cacheWriteTokens: 15,
        cacheWrite1hTokens: 0,
        imageTokens: 20,
        completionTokens: 8,
        reasoningTokens: 6,
      },
      prices: PRICES,
    });
  });

  it('has tool calls, reasoning text and log probabilities, but no unknown fields of the provider', async () => {
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
        reasoning_details: [{ type: 'reasoning.text', text: 'Let me think' }],
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{"a":1}' } }],
      },
      logprobs: null,
      finish_reason: 'tool_calls',
    });
  });
});

describe('the request to the provider', () => {
  it('has our fields followed by the unchanged body', async () => {
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

  it('always requests usage when streaming, and accepts an empty body', async () => {
    upstream.play(helloStream);
    await router.collect(streamed({ bodyJson: Buffer.from('{}') }));
    expect(upstream.calls[0]?.body).toEqual({
      model: 'upstream-model',
      stream: true,
      stream_options: { include_usage: true },
      max_tokens: 100,
    });
  });

  it('uses the provider’s names of the output limit and the developer role', async () => {
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

describe('fields that only some targets accept', () => {
  const assistantMessage = { role: 'assistant', content: 'Hi', reasoning_content: 'Let me think' };
  const bodyJson = Buffer.from(
    JSON.stringify({ messages: [assistantMessage, { role: 'user', content: 'And?' }] }),
  );

  it('reasoning of earlier turns is sent to targets that accept it', async () => {
    upstream.play(helloCompletion);
    await router.collect(generateRequest({ modelId: 'acme/thinking', bodyJson }));
    expect(upstream.calls[0]?.body['messages']).toEqual([
      assistantMessage,
      { role: 'user', content: 'And?' },
    ]);
  });

  it('reasoning of earlier turns is not sent to other targets', async () => {
    upstream.play(helloCompletion);
    await router.collect(generateRequest({ bodyJson }));
    expect(upstream.calls[0]?.body['messages']).toEqual([
      { role: 'assistant', content: 'Hi' },
      { role: 'user', content: 'And?' },
    ]);
  });

  it('a seed of 64 bits is sent exactly', async () => {
    upstream.play(helloCompletion);
    await router.collect(generateRequest({ exactSeed: 9_223_372_036_854_775_807n }));
    expect(upstream.calls[0]?.text).toContain('"seed":9223372036854775807');
  });
});

describe('a stream', () => {
  it('is normalized, and has usage only on request', async () => {
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

  it('has usage null in every chunk and the usage with its cost in the last one, on request', async () => {
    upstream.play(helloStream);
    const { chunks } = await router.collect(streamed({ includeUsage: true }));
    expect(chunks.slice(0, -1).every((one) => one['usage'] === null)).toBe(true);
    expect(chunks.at(-1)).toMatchObject({
      system_fingerprint: 'fp_1',
      choices: [],
      usage: { prompt_tokens: 10, cost: 0.000014 },
    });
  });

  it('returns chunks that arrive together as one message', async () => {
    upstream.play(helloStream);
    const { frames } = await router.collect(streamed());
    expect(frames).toHaveLength(1);
  });

  it('has the same text for any split of its bytes', async () => {
    const text = 'Grüße 👩‍👩‍👧 "quoted" \\ back\nline';
    const complete =
      sse(chunk({ role: 'assistant', content: '' }), ...[...text].map((content) => chunk({ content }))) +
      sse(chunk({}, 'stop'), usageChunk(3, 5)) +
      DONE;
    upstream.play(async (response) => {
      startStream(response);
      for (const byte of Buffer.from(complete)) response.write(Buffer.of(byte));
      response.end();
    });
    const { chunks, frames } = await router.collect(streamed());
    const deltas = chunks as unknown as { choices: { delta: { content?: string } }[] }[];
    expect(deltas.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).toBe(text);
    for (const frame of frames) expect(() => chunksOf(frame)).not.toThrow();
  });

  it('adds a missing role and a missing finish_reason', async () => {
    upstream.play(stream(chunk({ content: 'Hi' })));
    const { chunks, error } = await router.collect(streamed());
    expect(error).toBeUndefined();
    expect(chunks).toMatchObject([
      { choices: [{ delta: { role: 'assistant', content: 'Hi' }, finish_reason: null }] },
      { choices: [{ delta: {}, finish_reason: 'stop' }] },
    ]);
  });

  it('does not need [DONE] after the finish_reason', async () => {
    upstream.play((response) => {
      startStream(response);
      response.end(sse(chunk({ content: 'Hi' }), chunk({}, 'length')));
    });
    const { finished } = await router.collect(streamed());
    expect(finished?.finishReason).toBe('length');
  });
});

describe('the end of a generation', () => {
  it('is durable before the last message arrives', async () => {
    upstream.play(helloStream);
    const appending = deferred();
    const allowed = deferred();
    router.beforeAppend = () => {
      appending.resolve();
      return allowed.promise;
    };
    const messages = router.generate(streamed());
    await messages.next();
    let arrived = false;
    const last = messages.next().finally(() => (arrived = true));
    await appending.promise;
    await new Promise((resolve) => setImmediate(resolve));
    expect(arrived).toBe(false);
    allowed.resolve();
    expect((await last).value).toMatchObject({ event: { $case: 'finished' } });
    expect(router.events).toHaveLength(1);
    router.beforeAppend = () => Promise.resolve();
  });

  it('has everything that the ledger needs', async () => {
    upstream.play(helloStream);
    await router.collect(
      streamed({
        generationId: 'gen-E',
        apiType: 'messages',
        externalUser: 'u-1',
        tags: [{ name: 'team', value: 'blue' }],
        runId: 'run-1',
        idempotencyScope: 'scope-1',
      }),
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
      usage: {
        promptTokens: 10,
        cachedTokens: 0,
        cacheWriteTokens: 0,
        cacheWrite1hTokens: 0,
        imageTokens: 0,
        completionTokens: 2,
        reasoningTokens: 0,
      },
      usageSource: UsageSource.USAGE_SOURCE_PROVIDER,
      apiType: 'messages',
      externalUser: 'u-1',
      tags: [{ name: 'team', value: 'blue' }],
      runId: 'run-1',
      prices: PRICES,
    });
    const stored = JSON.parse(String(event?.endedClaim?.responseJson)) as object;
    expect(stored).toMatchObject({ id: 'gen-E', choices: [{ message: { content: 'Hello world' } }] });
    expect(event?.endedClaim?.scope).toBe('scope-1');
  });

  it('has the calls to providers and the time of the first output; an empty event is no output', async () => {
    let now = 1_764_000_000_123;
    const clock = { now: () => now as UnixMs };
    const timed = await RouterUnderTest.start([model([provider('one', upstream.url)])], { clock });
    const output = deferred();
    upstream.play(async (response) => {
      startStream(response);
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
      attempts: [
        { provider: 'one', providerModel: 'upstream-model', reason: 'order', outcome: 'ok', durationMs: 250 },
      ],
    });
  });

  it('has no time to first token when it was not streamed', async () => {
    upstream.play(helloCompletion);
    await router.collect(generateRequest());
    expect(router.events[0]?.timeToFirstTokenMs).toBeUndefined();
  });

  it('counts the tokens of a response without a usage block', async () => {
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

it('a generation is recorded with an estimated output when the tokenizer has no capacity', async () => {
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

it('rejects an unknown and a disabled model with the same error', async () => {
  for (const modelId of ['acme/none', 'acme/off']) {
    const { error } = await router.collect(generateRequest({ modelId }));
    expect(error).toBeInstanceOf(GatewayError);
    expect(error).toMatchObject({ code: 'model_not_found' });
  }
});
