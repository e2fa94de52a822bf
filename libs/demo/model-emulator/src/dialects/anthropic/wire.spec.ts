import Anthropic from '@anthropic-ai/sdk';
import { startModelEmulator, type ModelEmulator } from '../../index';
import { countTokens } from '../../tokens';

const PNG_2X3 = Buffer.concat([
  Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13]),
  Buffer.from('IHDR'),
  Buffer.from([0, 0, 0, 2, 0, 0, 0, 3, 8, 2, 0, 0, 0]),
]).toString('base64');

const WEATHER: Anthropic.Tool = {
  name: 'get_weather',
  input_schema: {
    type: 'object',
    properties: { city: { type: 'string' }, days: { type: 'integer', minimum: 1, maximum: 7 } },
    required: ['city', 'days'],
  },
};

let emulator: ModelEmulator;
let origin: string;
let client: Anthropic;

beforeAll(async () => {
  emulator = await startModelEmulator({ apiKeys: ['sk-ant-test'] });
  origin = `http://127.0.0.1:${emulator.port}`;
  client = new Anthropic({ baseURL: origin, apiKey: 'sk-ant-test', maxRetries: 0, logLevel: 'off' });
});
afterAll(() => emulator.close());
beforeEach(() => emulator.reset());

type Params = Anthropic.MessageCreateParamsNonStreaming;

function paramsFor(content: Anthropic.MessageParam['content'], rest: Partial<Params> = {}): Params {
  return { model: 'emu-standard', max_tokens: 2_000, messages: [{ role: 'user', content }], ...rest };
}

const textOf = ({ content }: Anthropic.Message) =>
  content.map((block) => (block.type === 'text' ? block.text : '')).join('');

async function failureOf(call: Promise<unknown>): Promise<InstanceType<typeof Anthropic.APIError>> {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof Anthropic.APIError)) throw new Error(`expected an APIError, got ${String(error)}`);
  return error;
}

describe('the SDK reads', () => {
  it('a message with its usage', async () => {
    const message = await client.messages.create(paramsFor('Say hello [[tokens:40]]'));
    expect(message).toMatchObject({ type: 'message', role: 'assistant', stop_reason: 'end_turn' });
    expect(message.id).toMatch(/^msg_/);
    expect(textOf(message)).toContain('Say hello');
    expect(message.usage).toMatchObject({
      output_tokens: countTokens(textOf(message)),
      cache_read_input_tokens: 0,
      cache_creation_input_tokens: 0,
    });
    expect(message.usage.input_tokens).toBeGreaterThan(3);
  });

  it('a stream with the same message', async () => {
    const params = paramsFor('Say hello [[tokens:40]]');
    const { id: _, ...whole } = await client.messages.create(params);
    const stream = client.messages.stream(params);
    const events: string[] = [];
    stream.on('streamEvent', ({ type }) => events.push(type));
    const { id: __, ...streamed } = await stream.finalMessage();
    expect(streamed).toMatchObject({ content: whole.content, stop_reason: 'end_turn' });
    expect(streamed.usage).toMatchObject({ ...whole.usage });
    expect(events.slice(0, 2)).toEqual(['message_start', 'content_block_start']);
    expect(events.slice(-3)).toEqual(['content_block_stop', 'message_delta', 'message_stop']);
  });

  it.each(['crlf', 'comments', 'multi-line', 'byte-by-byte'])('a stream with the fault %s', async (fault) => {
    const plain = await client.messages.stream(paramsFor('Hi [[tokens:20]]')).finalMessage();
    const varied = await client.messages
      .stream(paramsFor('Hi [[tokens:20]]', { model: `emu-standard+fault:${fault}` }))
      .finalMessage();
    expect(varied.content).toEqual(plain.content);
  });

  it('tool calls and the loop that follows them, also parallel ones', async () => {
    const tools = [WEATHER];
    const question = paramsFor('Weather? [[calls:2]]', { tools });
    const called = await client.messages.stream(question).finalMessage();
    expect(called.stop_reason).toBe('tool_use');
    const calls = called.content.flatMap((block) => (block.type === 'tool_use' ? [block] : []));
    expect(calls).toHaveLength(2);
    for (const { id, name, input } of calls) {
      expect(id).toMatch(/^toolu_/);
      expect(name).toBe('get_weather');
      expect(input).toEqual({ city: expect.any(String), days: expect.any(Number) });
    }
    const results = calls.map(({ id }) => ({
      type: 'tool_result' as const,
      tool_use_id: id,
      content: 'Sunny',
    }));
    const final = await client.messages.create({
      ...question,
      messages: [
        ...question.messages,
        { role: 'assistant', content: called.content },
        { role: 'user', content: results },
      ],
    });
    expect(final.stop_reason).toBe('end_turn');
    expect(textOf(final)).toContain('The tool returned a result');
  });

  it.each<[Anthropic.ToolChoice, number]>([
    [{ type: 'none' }, 0],
    [{ type: 'any', disable_parallel_tool_use: true }, 1],
    [{ type: 'tool', name: 'get_weather' }, 1],
  ])('the choice %j', async (tool_choice, count) => {
    const message = await client.messages.create(
      paramsFor('Weather? [[calls:2]]', { tools: [WEATHER], tool_choice }),
    );
    expect(message.content.filter(({ type }) => type === 'tool_use')).toHaveLength(count);
  });

  it('JSON of a schema', async () => {
    const schema = {
      type: 'object',
      properties: { a: { type: 'integer' } },
      required: ['a'],
      additionalProperties: false,
    };
    const message = await client.messages.create(
      paramsFor('JSON', { output_config: { format: { type: 'json_schema', schema } } }),
    );
    expect(JSON.parse(textOf(message))).toEqual({ a: expect.any(Number) });
  });

  it('a response to an image', async () => {
    const image: Anthropic.ImageBlockParam = {
      type: 'image',
      source: { type: 'base64', media_type: 'image/png', data: PNG_2X3 },
    };
    const message = await client.messages.create(paramsFor([image], { model: 'emu-vision' }));
    expect(textOf(message)).toContain('2x3');
  });

  it.each([
    ['[[tokens:50]]', { max_tokens: 5 }, 'max_tokens'],
    ['[[fault:content-filter]]', {}, 'refusal'],
  ])('the stop reason of %s', async (content, rest, stop_reason) => {
    expect(await client.messages.create(paramsFor(content, rest))).toMatchObject({ stop_reason });
    expect(await client.messages.stream(paramsFor(content, rest)).finalMessage()).toMatchObject({
      stop_reason,
    });
  });
});

describe('thinking', () => {
  const budget = { type: 'enabled', budget_tokens: 1_024 } as const;
  const thinkingIn = (message: Anthropic.Message) =>
    message.content.filter(({ type }) => /thinking/.test(type));
  const question = paramsFor('Weather?', { model: 'emu-reasoner', tools: [WEATHER], thinking: budget });
  const resume = (content: Anthropic.ContentBlockParam[]) => {
    const call = content.find(({ type }) => type === 'tool_use') as Anthropic.ToolUseBlockParam;
    return client.messages.create({
      ...question,
      messages: [
        ...question.messages,
        { role: 'assistant', content },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: call.id, content: 'Sunny' }] },
      ],
    });
  };

  it('is signed, counted, and equal in a stream', async () => {
    const whole = await client.messages.create(question);
    const [block] = thinkingIn(whole);
    expect(block).toEqual({
      type: 'thinking',
      thinking: expect.stringMatching(/\w/),
      signature: expect.stringMatching(/\w/),
    });
    expect(whole.usage.output_tokens_details?.thinking_tokens).toBe(32);
    const streamed = await client.messages.stream(question).finalMessage();
    expect(thinkingIn(streamed)).toEqual([block]);
  });

  it('depends on the effort', async () => {
    const tokens = async (effort: 'low' | 'high') => {
      const { usage } = await client.messages.create({
        ...paramsFor('Hi', { model: 'emu-reasoner' }),
        thinking: { type: 'adaptive' },
        output_config: { effort },
      });
      return usage.output_tokens_details?.thinking_tokens;
    };
    expect(await tokens('low')).toBe(32);
    expect(await tokens('high')).toBe(512);
    expect(thinkingIn(await client.messages.create(paramsFor('Hi', { model: 'emu-reasoner' })))).toEqual([]);
  });

  it('is accepted back unchanged, and refused when it is changed or dropped', async () => {
    const { content } = await client.messages.create(question);
    expect((await resume(content)).stop_reason).toBe('end_turn');
    const changed = content.map((block) =>
      block.type === 'thinking' ? { ...block, thinking: 'other' } : block,
    );
    expect((await failureOf(resume(changed))).message).toContain('Invalid `signature` in `thinking` block');
    const dropped = content.filter(({ type }) => type !== 'thinking');
    expect((await failureOf(resume(dropped))).message).toContain(
      'Expected `thinking` or `redacted_thinking`',
    );
  });

  it('of a model that hides it is redacted', async () => {
    const params = { ...question, model: 'emu-reasoner-quiet' };
    const message = await client.messages.stream(params).finalMessage();
    expect(thinkingIn(message)).toEqual([{ type: 'redacted_thinking', data: expect.any(String) }]);
    expect((await resume(message.content)).stop_reason).toBe('end_turn');
  });
});

it('writes the prompt to the cache up to its cache points, and reads it from there', async () => {
  const long = (word: string) => `${word} `.repeat(2_000);
  const ask = (question: string) =>
    client.messages.create({
      ...paramsFor([
        { type: 'text', text: long('two'), cache_control: { type: 'ephemeral' } },
        { type: 'text', text: question },
      ]),
      system: [{ type: 'text', text: long('one'), cache_control: { type: 'ephemeral', ttl: '1h' } }],
    });
  const { usage: first } = await ask('a');
  const written = first.cache_creation_input_tokens ?? 0;
  expect(first.cache_read_input_tokens).toBe(0);
  expect(first.cache_creation?.ephemeral_1h_input_tokens).toBe(countTokens(long('one')));
  expect(first.cache_creation?.ephemeral_5m_input_tokens).toBe(countTokens(long('two')));
  expect(written).toBe(countTokens(long('one')) + countTokens(long('two')));
  expect(first.input_tokens).toBeLessThan(20);
  const { usage: second } = await ask('b');
  expect(second).toMatchObject({ cache_read_input_tokens: written, cache_creation_input_tokens: 0 });
  expect(second.input_tokens).toBe(first.input_tokens);
  // A new point within a cached prefix writes nothing.
  const { usage: third } = await client.messages.create(
    paramsFor([
      { type: 'text', text: long('three') },
      { type: 'text', text: long('four'), cache_control: { type: 'ephemeral' } },
    ]),
  );
  const { usage: fourth } = await client.messages.create(
    paramsFor([
      { type: 'text', text: long('three'), cache_control: { type: 'ephemeral' } },
      { type: 'text', text: long('four'), cache_control: { type: 'ephemeral' } },
    ]),
  );
  expect(fourth).toMatchObject({
    cache_read_input_tokens: third.cache_creation_input_tokens,
    cache_creation_input_tokens: 0,
  });
  // Without cache points nothing is cached.
  expect((await client.messages.create(paramsFor(long('two')))).usage).toMatchObject({
    cache_read_input_tokens: 0,
    cache_creation_input_tokens: 0,
  });
});

describe('errors', () => {
  it.each([
    [400, Anthropic.BadRequestError, 'invalid_request_error'],
    [401, Anthropic.AuthenticationError, 'authentication_error'],
    [403, Anthropic.PermissionDeniedError, 'permission_error'],
    [404, Anthropic.NotFoundError, 'not_found_error'],
    [429, Anthropic.RateLimitError, 'rate_limit_error'],
    [500, Anthropic.InternalServerError, 'api_error'],
    [504, Anthropic.InternalServerError, 'timeout_error'],
    [529, Anthropic.InternalServerError, 'overloaded_error'],
  ])('of status %d have their type', async (status, type, name) => {
    const error = await failureOf(client.messages.create(paramsFor(`Hi [[fault:${status}]]`)));
    expect(error).toBeInstanceOf(type);
    expect(error).toMatchObject({ status, type: name, requestID: expect.stringMatching(/^req_/) });
    expect(error.headers?.get('retry-after')).toBe(status === 429 ? '1' : null);
  });

  it('do not occur for a key in x-api-key, which is not recorded', async () => {
    const headers = { authorization: null, 'x-api-key': 'sk-ant-test' };
    expect(await client.messages.create(paramsFor('Hi'), { headers })).toMatchObject({ type: 'message' });
    expect(emulator.requests()[0]?.headers['x-api-key']).toBe('…test');
  });

  it('of a wrong key, an unknown model and an overflow', async () => {
    const stranger = new Anthropic({ baseURL: origin, apiKey: 'bad-key', maxRetries: 0 });
    expect(await failureOf(stranger.messages.create(paramsFor('Hi')))).toMatchObject({ status: 401 });
    expect(await failureOf(client.messages.create(paramsFor('Hi', { model: 'gpt' })))).toMatchObject({
      status: 404,
      apiMessage: 'model: gpt',
    });
    const tooLong = paramsFor('word '.repeat(9_000), { model: 'emu-small', max_tokens: 10 });
    expect(await failureOf(client.messages.create(tooLong))).toMatchObject({
      status: 400,
      apiMessage: expect.stringMatching(/^prompt is too long: \d+ tokens > 8192 maximum$/),
    });
    expect(emulator.requests()[0]?.headers['authorization']).toBe('…-key');
  });

  it('inside a stream', async () => {
    const stream = client.messages.stream(paramsFor('Hi [[tokens:20]] [[fault:error-event:3]]'));
    const texts: string[] = [];
    stream.on('text', (text) => texts.push(text));
    expect(await failureOf(stream.finalMessage())).toMatchObject({ type: 'overloaded_error' });
    expect(texts).toHaveLength(3);
  });

  it('inside a stream come after that many deltas of any block', async () => {
    const params = paramsFor('Hi [[tokens:20]] [[fault:error-event:35]]', { model: 'emu-reasoner' });
    const stream = client.messages.stream({
      ...params,
      thinking: { type: 'adaptive' },
      output_config: { effort: 'low' },
    });
    const texts: string[] = [];
    stream.on('text', (text) => texts.push(text));
    await failureOf(stream.finalMessage());
    // 32 deltas of thinking and one of its signature precede the text.
    expect(texts).toHaveLength(2);
  });

  it.each(['cut-after:2', 'malformed-chunk:2', 'end-early:2'])(
    'of a stream with the fault %s',
    async (fault) => {
      const stream = client.messages.stream(paramsFor(`Hi [[tokens:20]] [[fault:${fault}]]`));
      const texts: string[] = [];
      stream.on('text', (text) => texts.push(text));
      await expect(stream.finalMessage()).rejects.toThrow();
      expect(texts).toHaveLength(2);
    },
  );

  it('of a stream that stalls are left to the client, which disconnects', async () => {
    const stream = await client.messages.create({
      ...paramsFor('Hi [[tokens:20]] [[fault:stall:1]]'),
      stream: true,
    });
    for await (const event of stream) if (event.type === 'content_block_delta') break;
    await emulator.until((stats) => stats.cancelled === 1);
  });
});

it('omits or falsifies usage, and omits the last event, on demand', async () => {
  const events = async (fault: string) => {
    const received: Anthropic.MessageStreamEvent[] = [];
    const params = paramsFor(`Hi [[fault:${fault}]]`);
    for await (const event of await client.messages.create({ ...params, stream: true })) received.push(event);
    return received;
  };
  for (const event of await events('no-usage')) {
    expect(event.type === 'message_start' ? event.message : event).not.toHaveProperty('usage');
  }
  const wrong = await events('wrong-usage:7:9');
  expect(wrong.find(({ type }) => type === 'message_delta')).toHaveProperty('usage', {
    input_tokens: 7,
    output_tokens: 9,
  });
  expect((await events('no-done')).at(-1)?.type).toBe('message_delta');
});

describe('a request that the Messages API refuses', () => {
  const user = { role: 'user', content: 'Hi' } as const;
  const call = { type: 'tool_use', id: 'c', name: 'get_weather', input: {} } as const;
  const result = { type: 'tool_result', tool_use_id: 'c' } as const;
  const point = { cache_control: { type: 'ephemeral' } } as const;
  const thinking = { type: 'enabled', budget_tokens: 1_024 } as const;

  /** The version of the API that has sampling parameters. */
  const headers = { 'anthropic-version': '2023-06-01' };

  it.each(['temperature', 'top_p', 'top_k'])(
    'gets an error about %s in the version of 2026',
    async (name) => {
      const params = { ...paramsFor('Hi'), [name]: 1 };
      const error = await failureOf(client.messages.create(params));
      expect(error).toMatchObject({ status: 400, apiMessage: `${name}: Extra inputs are not permitted` });
      expect(await client.messages.create(params, { headers })).toMatchObject({ stop_reason: 'end_turn' });
    },
  );

  it.each<[string, object]>([
    ['Extra inputs', { seed: 1 }],
    ['max_tokens', { max_tokens: undefined }],
    ['max_tokens', { max_tokens: 16_385 }],
    ['temperature', { temperature: 1.5 }],
    ['non-empty', { messages: [{ role: 'user', content: '' }] }],
    ['non-whitespace', { messages: [{ role: 'user', content: ' ' }] }],
    ['trailing whitespace', { messages: [user, { role: 'assistant', content: 'a ' }] }],
    ['role', { messages: [{ role: 'system', content: 'a' }] }],
    [
      'must define tools',
      { messages: [user, { role: 'assistant', content: [call] }, { role: 'user', content: [result] }] },
    ],
    [
      'without `tool_result`',
      { tools: [WEATHER], messages: [user, { role: 'assistant', content: [call] }, user] },
    ],
    [
      'without `tool_result`',
      {
        tools: [WEATHER],
        messages: [
          user,
          { role: 'assistant', content: [call] },
          { role: 'user', content: [{ type: 'text', text: 'a' }, result] },
        ],
      },
    ],
    ['unexpected `tool_use_id`', { tools: [WEATHER], messages: [{ role: 'user', content: [result] }] }],
    [
      'String should match',
      { tools: [WEATHER], messages: [user, { role: 'assistant', content: [{ ...call, id: 'a:b' }] }] },
    ],
    ['input_schema', { tools: [{ name: 'a', input_schema: {} }] }],
    ['tool_choice', { tool_choice: { type: 'auto' } }],
    ['maximum of 4', { system: Array.from({ length: 5 }, () => ({ type: 'text', text: 'a', ...point })) }],
    ['does not support thinking', { thinking }],
    ['effort', { output_config: { effort: 'low' } }],
    ['greater than or equal to 1024', { model: 'emu-reasoner', thinking: { ...thinking, budget_tokens: 5 } }],
    ['must be greater than', { model: 'emu-reasoner', max_tokens: 1_024, thinking }],
    ['may only be set to 1', { model: 'emu-reasoner', temperature: 0, thinking }],
    ['top_p', { model: 'emu-reasoner', top_p: 0.5, thinking }],
    ['top_k', { model: 'emu-reasoner', top_k: 5, thinking }],
    ['forces tool use', { model: 'emu-reasoner', tools: [WEATHER], tool_choice: { type: 'any' }, thinking }],
    ['stop sequence', { stop_sequences: [' '] }],
    ['json_schema', { output_config: { format: { type: 'json_object' } } }],
  ])('gets an error about %s', async (text, rest) => {
    const error = await failureOf(
      client.messages.create({ ...paramsFor('Hi'), ...rest } as Params, { headers }),
    );
    expect(error.status).toBe(400);
    expect(error.apiMessage).toContain(text);
  });
});

it('serves the paths of Vertex AI and Bedrock, with the version in the body', async () => {
  const post = async (path: string, body: object) => {
    const response = await fetch(origin + path, {
      method: 'POST',
      headers: { authorization: 'Bearer sk-ant-test', 'content-type': 'application/json' },
      body: JSON.stringify({ max_tokens: 100, messages: [{ role: 'user', content: 'Hi' }], ...body }),
    });
    return { status: response.status, text: await response.text() };
  };
  const models = '/v1/projects/p/locations/l/publishers/anthropic/models/emu-small';
  const vertex = { anthropic_version: 'vertex-2023-10-16' };
  expect(await post(`${models}:rawPredict`, vertex)).toMatchObject({ status: 200 });
  const stream = await post(`${models}:streamRawPredict`, { ...vertex, stream: true });
  expect(stream.text).toContain('event: message_stop\ndata: {"type":"message_stop"}');
  expect(await post(`${models}:rawPredict`, {})).toMatchObject({ status: 400 });
  expect(await post(`${models}:rawPredict`, { ...vertex, model: 'emu-small' })).toMatchObject({
    status: 400,
  });
  const bedrock = { anthropic_version: 'bedrock-2023-05-31', model: 'emu-small' };
  expect(await post('/anthropic/v1/messages', bedrock)).toMatchObject({ status: 200 });
  expect(await post('/anthropic/v1/messages', { model: 'emu-small' })).toMatchObject({ status: 400 });
});
