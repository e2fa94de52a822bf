import OpenAI from 'openai';
import { countTokens } from './tokens';
import { EMULATED_MODELS, startModelEmulator, type ModelEmulator } from './index';

const PNG_2X3 =
  'data:image/png;base64,' +
  Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13]),
    Buffer.from('IHDR'),
    Buffer.from([0, 0, 0, 2, 0, 0, 0, 3, 8, 2, 0, 0, 0]),
  ]).toString('base64');

const WEATHER: OpenAI.ChatCompletionFunctionTool = {
  type: 'function',
  function: {
    name: 'get_weather',
    parameters: {
      type: 'object',
      properties: {
        city: { type: 'string' },
        unit: { enum: ['celsius', 'fahrenheit'] },
        days: { type: 'integer', minimum: 1, maximum: 7 },
      },
      required: ['city', 'unit', 'days'],
    },
  },
};

let emulator: ModelEmulator;
let client: OpenAI;

beforeAll(async () => {
  emulator = await startModelEmulator({ apiKeys: ['sk-test'] });
  client = new OpenAI({ baseURL: emulator.url, apiKey: 'sk-test', maxRetries: 0 });
});
afterAll(() => emulator.close());
beforeEach(() => emulator.reset());

const requestFor = (content: string, model = 'emu-standard') => ({
  model,
  messages: [{ role: 'user' as const, content }],
});

async function collect(params: Omit<OpenAI.ChatCompletionCreateParamsStreaming, 'stream'>) {
  const chunks: OpenAI.ChatCompletionChunk[] = [];
  for await (const chunk of await client.chat.completions.create({ ...params, stream: true }))
    chunks.push(chunk);
  return { chunks, text: chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('') };
}

async function apiError(call: Promise<unknown>): Promise<InstanceType<typeof OpenAI.APIError>> {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof OpenAI.APIError)) throw new Error(`expected an APIError, got ${String(error)}`);
  return error;
}

describe('the official SDK reads the wire format', () => {
  it('lists the models', async () => {
    const models = await client.models.list();
    expect(models.data.map((model) => model.id)).toEqual(EMULATED_MODELS.map((model) => model.id));
  });

  it('returns the same text for the same prompt, and another text for another prompt', async () => {
    const [first, again, other] = await Promise.all(
      ['hello', 'hello', 'goodbye'].map((text) => client.chat.completions.create(requestFor(text))),
    );
    expect(again?.choices).toEqual(first?.choices);
    expect(again?.id).not.toBe(first?.id);
    expect(other?.choices[0]?.message.content).not.toBe(first?.choices[0]?.message.content);
  });

  it('reports the completion tokens that o200k counts in the text', async () => {
    for (const text of ['hello', 'Grüße, 世界 🎉', 'x [[tokens:300]]']) {
      const response = await client.chat.completions.create(requestFor(text));
      expect(response.usage?.completion_tokens).toBe(countTokens(response.choices[0]?.message.content ?? ''));
    }
  });

  it('streams the text of the non-streaming response, one token per chunk', async () => {
    const params = requestFor('hello [[tokens:40]]');
    const response = await client.chat.completions.create(params);
    const { chunks, text } = await collect(params);
    expect(text).toBe(response.choices[0]?.message.content);
    expect(chunks.filter((chunk) => chunk.choices[0]?.delta.content)).toHaveLength(40);
    expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe('stop');
    expect(new Set(chunks.map((chunk) => chunk.id)).size).toBe(1);
    expect(chunks.some((chunk) => 'usage' in chunk)).toBe(false);
  });

  it('sends usage in an extra last chunk, and null before it, only on request', async () => {
    const { chunks } = await collect({
      ...requestFor('hi [[tokens:5]]'),
      stream_options: { include_usage: true },
    });
    const last = chunks.pop();
    expect(last?.choices).toEqual([]);
    expect(last?.usage?.completion_tokens).toBe(5);
    expect(chunks.every((chunk) => chunk.usage === null)).toBe(true);
  });

  it('respects max_tokens and finishes with "length"', async () => {
    const response = await client.chat.completions.create({
      ...requestFor('hi [[tokens:50]]'),
      max_tokens: 7,
    });
    expect(response.usage?.completion_tokens).toBe(7);
    expect(response.choices[0]?.finish_reason).toBe('length');
  });

  it('stops before the first stop sequence, even inside a token', async () => {
    const response = await client.chat.completions.create({
      ...requestFor('[[say:one two three four]]'),
      stop: ['never', 'hree'],
    });
    expect(response.choices[0]?.message.content).toBe('one two t');
    expect(response.choices[0]?.finish_reason).toBe('stop');
  });

  it('returns n different choices, the same when streaming', async () => {
    const params = { ...requestFor('vary'), n: 3 };
    const response = await client.chat.completions.create(params);
    const texts = response.choices.map((choice) => choice.message.content);
    expect(new Set(texts).size).toBe(3);
    const streamed = ['', '', ''];
    for await (const chunk of await client.chat.completions.create({ ...params, stream: true })) {
      for (const { index, delta } of chunk.choices) streamed[index] += delta.content ?? '';
    }
    expect(streamed).toEqual(texts);
  });

  it('reports a log probability for every token', async () => {
    const params = { ...requestFor('hi [[tokens:6]]'), logprobs: true, top_logprobs: 2 };
    const response = await client.chat.completions.create(params);
    const content = response.choices[0]?.logprobs?.content ?? [];
    expect(content.map((one) => one.token).join('')).toBe(response.choices[0]?.message.content);
    expect(content.every((one) => one.logprob <= 0 && one.top_logprobs.length === 2)).toBe(true);
    const { chunks } = await collect(params);
    expect(chunks.flatMap((chunk) => chunk.choices[0]?.logprobs?.content ?? [])).toEqual(content);
  });
});

describe('capabilities', () => {
  it('calls a tool with arguments that match its schema, then responds with text', async () => {
    const first = await client.chat.completions.create({ ...requestFor('weather?'), tools: [WEATHER] });
    const message = first.choices[0]?.message;
    const call = message?.tool_calls?.[0];
    if (message === undefined || call?.type !== 'function') throw new Error('no tool call');
    expect(first.choices[0]?.finish_reason).toBe('tool_calls');
    expect(message.content).toBeNull();
    expect(JSON.parse(call.function.arguments)).toMatchObject({
      city: expect.any(String),
      unit: expect.stringMatching(/^(celsius|fahrenheit)$/),
      days: expect.any(Number),
    });
    const second = await client.chat.completions.create({
      model: 'emu-standard',
      tools: [WEATHER],
      messages: [
        { role: 'user', content: 'weather?' },
        message,
        { role: 'tool', tool_call_id: call.id, content: 'sunny' },
      ],
    });
    expect(second.choices[0]?.finish_reason).toBe('stop');
    expect(second.choices[0]?.message.content).toContain('tool');
  });

  it('streams tool calls that the SDK can assemble', async () => {
    const stream = client.chat.completions.stream({
      ...requestFor('weather? [[calls:2]]'),
      tools: [WEATHER],
    });
    const calls = (await stream.finalChatCompletion()).choices[0]?.message.tool_calls ?? [];
    expect(calls).toHaveLength(2);
    for (const call of calls) expect(JSON.parse(call.function.arguments)).toHaveProperty('city');
  });

  it('respects tool_choice', async () => {
    const none = await client.chat.completions.create({
      ...requestFor('x'),
      tools: [WEATHER],
      tool_choice: 'none',
    });
    expect(none.choices[0]?.message.tool_calls).toBeUndefined();
    const other = { ...WEATHER, function: { ...WEATHER.function, name: 'other' } };
    const forced = await client.chat.completions.create({
      ...requestFor('x'),
      tools: [WEATHER, other],
      tool_choice: { type: 'function', function: { name: 'other' } },
    });
    expect(forced.choices[0]?.message.tool_calls).toMatchObject([{ function: { name: 'other' } }]);
  });

  it('returns JSON, and JSON that matches a schema', async () => {
    const free = await client.chat.completions.create({
      ...requestFor('json please'),
      response_format: { type: 'json_object' },
    });
    expect(typeof JSON.parse(free.choices[0]?.message.content ?? '')).toBe('object');
    const fitted = await client.chat.completions.create({
      ...requestFor('json please'),
      response_format: {
        type: 'json_schema',
        json_schema: {
          name: 'person',
          schema: {
            $defs: { tag: { type: 'string', maxLength: 4 } },
            type: 'object',
            required: ['name', 'age', 'tags', 'nothing'],
            properties: {
              name: { type: ['string', 'null'] },
              age: { type: 'integer', minimum: 18, exclusiveMaximum: 20 },
              tags: { type: 'array', minItems: 2, items: { $ref: '#/$defs/tag' } },
              nothing: { anyOf: [{ type: 'null' }, { type: 'string' }] },
            },
          },
        },
      },
    });
    const person = JSON.parse(fitted.choices[0]?.message.content ?? '') as { age: number; tags: string[] };
    expect([18, 19]).toContain(person.age);
    expect(person.tags.length).toBeGreaterThanOrEqual(2);
    expect(person.tags.every((tag) => tag.length <= 4)).toBe(true);
    expect(person).toHaveProperty('nothing', null);
  });

  it('accepts images and counts their tokens', async () => {
    const response = await client.chat.completions.create({
      model: 'emu-vision',
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'look' },
            { type: 'image_url', image_url: { url: PNG_2X3 } },
          ],
        },
      ],
    });
    expect(response.choices[0]?.message.content).toContain('2x3');
    expect(response.usage?.prompt_tokens).toBe(3 + 3 + 1 + 85 + 170);
  });

  it('uses reasoning tokens by effort, as part of completion_tokens', async () => {
    for (const [effort, tokens] of [
      ['low', 32],
      ['high', 512],
    ] as const) {
      const response = await client.chat.completions.create({
        ...requestFor('think [[tokens:10]]', 'emu-reasoner'),
        reasoning_effort: effort,
      });
      expect(response.usage?.completion_tokens_details?.reasoning_tokens).toBe(tokens);
      expect(response.usage?.completion_tokens).toBe(tokens + 10);
      expect(response.choices[0]?.message).toHaveProperty('reasoning_content');
    }
  });

  it('reports cached tokens for a repeated long prefix, and written ones for the rest', async () => {
    const system = { role: 'system' as const, content: 'You are careful. '.repeat(500) };
    const send = (content: string) =>
      client.chat.completions.create({
        model: 'emu-standard',
        messages: [system, { role: 'user', content }],
      });
    const first = (await send('one')).usage?.prompt_tokens_details;
    expect(first?.cached_tokens).toBe(0);
    expect(first?.cache_write_tokens).toBeGreaterThanOrEqual(1024);
    const second = (await send(`two ${'more '.repeat(500)}`)).usage?.prompt_tokens_details;
    expect(second?.cached_tokens).toBe(first?.cache_write_tokens);
    expect(second?.cache_write_tokens).toBeGreaterThanOrEqual(128);
    expect((second?.cache_write_tokens ?? 0) % 128).toBe(0);
  });
});

describe('errors have OpenAI’s format', () => {
  it.each([
    ['an unknown model', { ...requestFor('x'), model: 'gpt-none' }, 404, 'model_not_found'],
    [
      'a prompt that does not fit',
      requestFor('word '.repeat(9000), 'emu-small'),
      400,
      'context_length_exceeded',
    ],
    [
      'tools the model lacks',
      { ...requestFor('x', 'emu-small'), tools: [WEATHER] },
      400,
      'unsupported_parameter',
    ],
    ['an unknown parameter', { ...requestFor('x'), frobnicate: 1 }, 400, 'unknown_parameter'],
    ['an unknown directive', requestFor('x [[falt:503]]'), 400, 'emulator_unknown_directive'],
    ['an unknown fault', requestFor('x [[fault:cutafter]]'), 400, 'emulator_unknown_directive'],
    ['a bad argument', requestFor('x [[tokens:many]]'), 400, 'emulator_bad_directive'],
    ['one argument too many', requestFor('x [[fault:503:1:2]]'), 400, 'emulator_bad_directive'],
    [
      'an unknown inner fault',
      requestFor('x [[fault:fail-first:1:oops]]'),
      400,
      'emulator_unknown_directive',
    ],
  ])('%s', async (_name, params, status, code) => {
    const error = await apiError(client.chat.completions.create(params));
    expect(error).toMatchObject({ status, code });
    expect(error.error).toHaveProperty('param');
    expect(error.requestID).toBe(`req_emu${emulator.requests().at(-1)?.sequence}`);
  });

  it('an unknown key', async () => {
    const stranger = new OpenAI({ baseURL: emulator.url, apiKey: 'sk-wrong', maxRetries: 0 });
    expect(await apiError(stranger.models.list())).toBeInstanceOf(OpenAI.AuthenticationError);
    expect(await apiError(stranger.chat.completions.create(requestFor('x')))).toMatchObject({ status: 401 });
  });

  it('brackets that are not a directive remain in the text', async () => {
    const response = await client.chat.completions.create(requestFor('[[1, 2], [3, 4]] and [[ -f x ]]'));
    expect(response.choices[0]?.message.content).toContain('[[1, 2]');
  });
});
