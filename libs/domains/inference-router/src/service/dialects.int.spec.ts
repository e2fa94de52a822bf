import { startModelEmulator, type ModelEmulator } from '@gateway/model-emulator';
import { UsageSource } from '@gateway/contracts/common';
import type { GenerateRequest } from '@gateway/contracts/inference-router';
import { dialectNames, type DialectName } from '../core/dialects/registry';
import { emulatedModel } from '../testing/emulated-targets';
import { publicCompletionOf } from '../testing/public-message';
import { generateRequest, PRICES, RouterUnderTest } from '../testing/router-under-test';

/** What each dialect makes of the same requests. The emulator verifies its provider's rules, and counts the tokens. */
let emulator: ModelEmulator;
let router: RouterUnderTest;

const MODELS = ['emu-standard', 'emu-vision', 'emu-reasoner', 'emu-reasoner-quiet'] as const;

beforeAll(async () => {
  emulator = await startModelEmulator();
  router = await RouterUnderTest.start(
    dialectNames.flatMap((dialect) =>
      MODELS.map((emulated) =>
        emulatedModel(emulator, dialect, { emulated, model: { id: idOf(dialect, emulated) } }),
      ),
    ),
  );
});
afterAll(async () => {
  await router.stop();
  await emulator.close();
});
beforeEach(() => {
  emulator.reset();
  router.events.length = 0;
});

const idOf = (dialect: DialectName, emulated: string) => `${dialect}/${emulated}`;
const user = (content: unknown) => ({ role: 'user', content });

const WEATHER = {
  type: 'function',
  function: {
    name: 'get_weather',
    description: 'The weather in a city',
    parameters: {
      type: 'object',
      properties: { city: { type: 'string' }, days: { type: 'integer', minimum: 1, maximum: 7 } },
      required: ['city', 'days'],
    },
  },
};
const TIME = { type: 'function', function: { name: 'get_time', parameters: { type: 'object' } } };

/** Five by four pixels. */
const PNG = Buffer.concat([
  Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13]),
  Buffer.from('IHDR'),
  Buffer.from([0, 0, 0, 5, 0, 0, 0, 4, 8, 2, 0, 0, 0]),
]).toString('base64');

/** Longer than the shortest prompt that the emulator caches. */
const LONG = 'All of this text is cached by the provider. '.repeat(200);

const combinations = dialectNames.flatMap((dialect) =>
  [true, false].map((stream) => ({ dialect, stream, how: stream ? 'streaming' : 'non-streaming' })),
);

describe.each(combinations)('$dialect, $how', ({ dialect, stream }) => {
  interface Call {
    readonly emulated?: (typeof MODELS)[number];
    readonly request?: Partial<GenerateRequest>;
  }

  /** Completes a request, and checks that it is recorded, and charged for the tokens that the emulator counted. */
  async function complete(body: object, { emulated = 'emu-standard', request = {} }: Call = {}) {
    const collected = await router.collect(
      generateRequest({
        modelId: idOf(dialect, emulated),
        stream,
        includeUsage: stream,
        bodyJson: Buffer.from(JSON.stringify(body)),
        maxOutputTokens: 2_000,
        estimatedInputTokens: 600,
        inputParts: { images: 1, estimatedImageTokens: 500, hasDefinitions: true },
        ...request,
      }),
    );
    expect(collected.error).toBeUndefined();
    const completion = publicCompletionOf(collected);
    const counted = emulator.requests().at(-1)?.usage;
    const [event] = router.events.splice(0);
    if (!completion.usage || !counted || !event) throw new Error('no usage');
    const usage = {
      prompt: completion.usage.prompt_tokens,
      cached: completion.usage.prompt_tokens_details.cached_tokens,
      completion: completion.usage.completion_tokens,
      reasoning: completion.usage.completion_tokens_details.reasoning_tokens,
    };
    expect(usage).toEqual({
      prompt: counted.promptTokens,
      cached: counted.cachedTokens,
      completion: counted.completionTokens,
      // Bedrock does not report how many of the output tokens are reasoning.
      reasoning: dialect === 'converse' ? 0 : counted.reasoningTokens,
    });
    expect(event).toMatchObject({
      provider: dialect,
      finishReason: completion.finishReason,
      usageSource: UsageSource.USAGE_SOURCE_PROVIDER,
      usage: {
        promptTokens: usage.prompt,
        cachedTokens: usage.cached,
        completionTokens: usage.completion,
        reasoningTokens: usage.reasoning,
      },
    });
    const images = event.usage?.imageTokens ?? 0;
    // Gemini writes its cache free of charge, and does not report it.
    const written = dialect === 'gemini' ? 0 : counted.cacheWrite5mTokens;
    const written1h = dialect === 'gemini' ? 0 : counted.cacheWrite1hTokens;
    expect(event.usage).toMatchObject({ cacheWriteTokens: written, cacheWrite1hTokens: written1h });
    expect(collected.finished?.costNanoUsd).toBe(costOf({ ...usage, images, written, written1h }));
    return { ...completion, counted, sent: sentBody() };
  }

  const sentBody = () => emulator.requests().at(-1)?.body ?? '';

  it('a text with its finish reason', async () => {
    const { message, finishReason } = await complete({
      messages: [{ role: 'system', content: 'Be brief.' }, user('[[say:Grüße, 世界 🎉]]')],
      temperature: 0.5,
    });
    expect(message).toMatchObject({ role: 'assistant', content: 'Grüße, 世界 🎉' });
    expect(message).not.toHaveProperty('tool_calls');
    expect(finishReason).toBe('stop');
  });

  it('a text that a stop sequence ends', async () => {
    const { message, finishReason } = await complete({
      messages: [user('[[say:one two three]]')],
      stop: [' three'],
    });
    expect([message.content, finishReason]).toEqual(['one two', 'stop']);
  });

  it('a text that the output limit cuts', async () => {
    const { finishReason, usage } = await complete(
      { messages: [user('[[tokens:50]]')] },
      { request: { maxOutputTokens: 7 } },
    );
    expect([finishReason, usage?.completion_tokens]).toEqual(['length', 7]);
  });

  it('a text that the provider filters', async () => {
    const { finishReason } = await complete({ messages: [user('[[fault:content-filter]] Hi')] });
    expect(finishReason).toBe('content_filter');
  });

  it('parallel tool calls, and a response to their results', async () => {
    const tools = [WEATHER, TIME];
    const ask = user('get_weather [[calls:2]]');
    const first = await complete({ messages: [ask], tools });
    expect(first.finishReason).toBe('tool_calls');
    const calls = first.message.tool_calls ?? [];
    expect(calls).toHaveLength(2);
    expect(calls[0]?.function.name).toBe('get_weather');
    expect(JSON.parse(calls[0]?.function.arguments ?? '')).toEqual({
      city: expect.any(String),
      days: expect.any(Number),
    });
    expect(new Set(calls.map(({ id }) => id)).size).toBe(2);
    const results = calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: 'wet' }));
    const second = await complete({ messages: [ask, first.message, ...results], tools });
    expect(second.finishReason).toBe('stop');
    expect(second.message.content).toMatch(/returned a result/);
  });

  it.each([
    ['required', 'required', ['get_weather']],
    ['a function', { type: 'function', function: { name: 'get_time' } }, ['get_time']],
    ['none', 'none', []],
  ] as const)('a tool choice: %s', async (_, choice, names) => {
    const { message } = await complete({
      messages: [user('get_weather, please')],
      tools: [WEATHER, TIME],
      tool_choice: choice,
    });
    expect((message.tool_calls ?? []).map(({ function: { name } }) => name)).toEqual(names);
  });

  it('an image', async () => {
    const image = { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } };
    const { message } = await complete(
      { messages: [user([{ type: 'text', text: 'What is this?' }, image])] },
      { emulated: 'emu-vision' },
    );
    expect(message.content).toMatch(/1 image of 5x4 pixels/);
  });

  it('JSON of a schema', async () => {
    const { properties, required } = WEATHER.function.parameters;
    const schema = { type: 'object', properties, required, additionalProperties: false };
    const { message } = await complete({
      messages: [user('The weather as JSON')],
      response_format: { type: 'json_schema', json_schema: { name: 'weather', strict: true, schema } },
    });
    expect(JSON.parse(message.content ?? '')).toEqual({
      city: expect.any(String),
      days: expect.any(Number),
    });
  });

  it('reasoning in a tool loop, which sends back what was signed', async () => {
    const body = { tools: [WEATHER], reasoning_effort: 'medium' };
    const ask = user('get_weather');
    const call = { emulated: 'emu-reasoner' } as const;
    const first = await complete({ ...body, messages: [ask] }, call);
    expect(first.counted.reasoningTokens).toBe(128);
    expect(first.message.reasoning_content).toMatch(/\S/);
    const signatures = signaturesOf(first.message);
    expect(signatures).toHaveLength(dialect === 'openai' ? 0 : 1);
    const [{ id } = { id: '' }] = first.message.tool_calls ?? [];
    const result = { role: 'tool', tool_call_id: id, content: 'wet' };
    const second = await complete({ ...body, messages: [ask, first.message, result] }, call);
    expect(second.finishReason).toBe('stop');
    for (const signature of signatures) expect(second.sent).toContain(signature);
  });

  it('reasoning that the provider encrypts, in a tool loop', async () => {
    const body = { tools: [WEATHER], reasoning_effort: 'low' };
    const ask = user('get_weather');
    const call = { emulated: 'emu-reasoner-quiet' } as const;
    const first = await complete({ ...body, messages: [ask] }, call);
    expect(first.counted.reasoningTokens).toBe(32);
    expect(first.message).not.toHaveProperty('reasoning_content');
    const encrypted = encryptedOf(first.message);
    expect(encrypted).toHaveLength(dialect === 'anthropic' || dialect === 'converse' ? 1 : 0);
    const [{ id } = { id: '' }] = first.message.tool_calls ?? [];
    const result = { role: 'tool', tool_call_id: id, content: 'wet' };
    const second = await complete({ ...body, messages: [ask, first.message, result] }, call);
    expect(second.finishReason).toBe('stop');
    for (const data of encrypted) expect(second.sent).toContain(data);
  });

  it('a prompt that the provider writes to its cache, then reads from there', async () => {
    const messages = [
      user([{ type: 'text', text: LONG, cache_control: { type: 'ephemeral' } }]),
      { role: 'assistant', content: 'Hello' },
      user('[[say:Hi]]'),
    ];
    const first = await complete({ messages });
    expect(first.counted.cacheWrite5mTokens).toBeGreaterThan(1_024);
    expect(first.counted.cachedTokens).toBe(0);
    const second = await complete({ messages });
    expect(second.counted.cachedTokens).toBeGreaterThan(1_024);
    expect(second.counted.cacheWrite5mTokens).toBe(0);
  });

  it('a prompt that the provider writes to its cache for one hour', async () => {
    const hour = { cache_control: { type: 'ephemeral', ttl: '1h' } };
    const messages = [user([{ type: 'text', text: `For an hour. ${LONG}`, ...hour }])];
    const { counted } = await complete({ messages });
    const hasLifetimes = dialect === 'anthropic' || dialect === 'converse';
    expect(counted.cacheWrite1hTokens > 1_024).toBe(hasLifetimes);
  });
});

/** At the prices of the models under test, per token in nano-dollars. */
function costOf(tokens: {
  readonly prompt: number;
  readonly cached: number;
  readonly written: number;
  readonly written1h: number;
  readonly images: number;
  readonly completion: number;
  readonly reasoning: number;
}): bigint {
  const { prompt, cached, written, written1h, images, completion, reasoning } = tokens;
  const perMillion =
    BigInt(prompt - cached - written - written1h - images) * PRICES.inputNanoUsdPerMillion +
    BigInt(cached) * PRICES.cachedInputNanoUsdPerMillion +
    BigInt(written) * PRICES.cacheWriteNanoUsdPerMillion +
    BigInt(written1h) * PRICES.cacheWrite1hNanoUsdPerMillion +
    BigInt(images) * PRICES.imageNanoUsdPerMillion +
    BigInt(completion - reasoning) * PRICES.outputNanoUsdPerMillion +
    BigInt(reasoning) * PRICES.reasoningNanoUsdPerMillion;
  return (perMillion + 999_999n) / 1_000_000n;
}

/** The signatures that a client has to send back, of any dialect. */
function signaturesOf(message: object): string[] {
  return [...JSON.stringify(message).matchAll(/"(?:thought_)?signature":"([^"]+)"/g)].map(
    ([, text = '']) => text,
  );
}

function encryptedOf(message: object): string[] {
  return [...JSON.stringify(message).matchAll(/"reasoning\.encrypted"[^}]*"data":"([^"]+)"/g)].map(
    ([, data = '']) => data,
  );
}
