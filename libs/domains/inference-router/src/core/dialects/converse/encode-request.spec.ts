import type { EncodeCall, TargetOptions } from '../dialect';
import { UpstreamFailure } from '../../failure/upstream-failure';
import { converse } from './index';

const CLAUDE = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0';
const NOVA = 'us.amazon.nova-2-lite-v1:0';

type Json = Record<string, unknown>;

interface Overrides extends Partial<Omit<EncodeCall, 'options'>> {
  readonly options?: Partial<TargetOptions>;
}

function callOf({ options, ...fields }: Overrides = {}): EncodeCall {
  return {
    providerModel: CLAUDE,
    stream: true,
    maxOutputTokens: 4096,
    n: 1,
    exactSeed: undefined,
    signer: 'aaaaaaaaaaaa',
    ownsUntagged: true,
    options: {
      maxTokensParameter: 'max_tokens',
      developerAsSystem: false,
      forwardReasoningContent: false,
      drops: [],
      reasoningBudgets: undefined,
      host: undefined,
      ...options,
    },
    ...fields,
  };
}

async function encode(body: object, overrides?: Overrides): Promise<Json> {
  const bytes = Buffer.from(JSON.stringify(body));
  const encoded = await converse.encodeRequest(bytes, callOf(overrides), () => Promise.resolve());
  return JSON.parse(Buffer.from(encoded).toString()) as Json;
}

async function refusal(body: object, overrides?: Overrides): Promise<UpstreamFailure> {
  const thrown: unknown = await encode(body, overrides).catch((error: unknown) => error);
  if (!(thrown instanceof UpstreamFailure)) throw new Error('the request was not refused');
  expect(thrown.kind).toBe('rejected');
  expect(thrown.publicMessage).toBeTruthy();
  return thrown;
}

const user = (content: unknown = 'Hello', more: object = {}) => ({ role: 'user', content, ...more });
const hello = [user()];
const tools = [
  {
    type: 'function',
    function: { name: 'weather', description: 'Weather', parameters: { type: 'object', properties: {} } },
  },
];
const call = (id: string, text = '{"city":"Bonn"}') => ({
  id,
  type: 'function',
  function: { name: 'weather', arguments: text },
});
const ephemeral = { type: 'ephemeral' };
const point = { cachePoint: { type: 'default' } };
const hourPoint = { cachePoint: { type: 'default', ttl: '1h' } };

describe('the path of a call', () => {
  it.each([
    [CLAUDE, true, '/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse-stream'],
    ['amazon.nova-micro-v1:0', false, '/model/amazon.nova-micro-v1%3A0/converse'],
    [
      'arn:aws:bedrock:eu-central-1:123456789012:inference-profile/eu.anthropic.claude-sonnet-4-6',
      false,
      '/model/arn:aws:bedrock:eu-central-1:123456789012:inference-profile%2Feu.anthropic.claude-sonnet-4-6/converse'.replaceAll(
        ':',
        '%3A',
      ),
    ],
  ])('has the encoded model %s', (providerModel, stream, path) => {
    expect(converse.path(callOf({ providerModel, stream }))).toBe(path);
  });
});

describe('a request for Converse', () => {
  it('has the output limit, and the sampling by its own names', async () => {
    const body = { messages: hello, temperature: 0.5, top_p: 0.9, stop: 'END' };
    const sent = { maxTokens: 4096, temperature: 0.5, stopSequences: ['END'] };
    // Claude accepts one of the two.
    expect(await encode(body)).toEqual({
      messages: [{ role: 'user', content: [{ text: 'Hello' }] }],
      inferenceConfig: sent,
    });
    const nova = await encode(body, { providerModel: 'us.amazon.nova-pro-v1:0' });
    expect(nova.inferenceConfig).toEqual({ ...sent, topP: 0.9 });
    const { inferenceConfig } = await encode({ messages: hello, stop: ['a', 'b'], temperature: 0 });
    expect(inferenceConfig).toEqual({ maxTokens: 4096, temperature: 0, stopSequences: ['a', 'b'] });
  });

  it('leaves out what the target drops', async () => {
    const body = {
      messages: hello,
      temperature: 0.5,
      top_p: 0.9,
      logit_bias: { 1: 1 },
      reasoning_effort: 'low',
    };
    const drops = ['temperature', 'logit_bias', 'reasoning_effort'];
    expect(await encode(body, { options: { drops } })).toEqual({
      messages: [{ role: 'user', content: [{ text: 'Hello' }] }],
      inferenceConfig: { maxTokens: 4096, topP: 0.9 },
    });
  });

  it('leaves out hints, and fields at their default', async () => {
    const plain = await encode({ messages: hello });
    const hints = {
      seed: 7, parallel_tool_calls: false, verbosity: 'low', prediction: { type: 'content', content: 'x' }, prompt_cache_key: 'k',
      prompt_cache_retention: '24h', prompt_cache_options: { mode: 'explicit' }, user: 'u', safety_identifier: 's',
      metadata: { a: 'b' }, store: true, service_tier: 'flex', modalities: ['text'],
    }; // prettier-ignore
    const defaults = {
      logprobs: false,
      top_logprobs: 0,
      logit_bias: {},
      frequency_penalty: 0,
      presence_penalty: null,
    };
    expect(await encode({ messages: hello, ...hints, ...defaults }, { exactSeed: 2n ** 60n })).toEqual(plain);
  });

  it.each<[string, object]>([
    ['logprobs', { logprobs: true }],
    ['top_logprobs', { top_logprobs: 3 }],
    ['logit_bias', { logit_bias: { 50256: -100 } }],
    ['frequency_penalty', { frequency_penalty: 0.5 }],
    ['presence_penalty', { presence_penalty: -1 }],
    ['response_format', { response_format: { type: 'json_object' } }],
    ['a_new_field', { a_new_field: 'x' }],
  ])('is refused with %s', async (param, fields) => {
    expect((await refusal({ messages: hello, ...fields })).param).toBe(param);
  });

  it('is refused for several completions', async () => {
    expect((await refusal({ messages: hello }, { n: 2 })).param).toBe('n');
  });

  it('has the JSON schema of the response as text', async () => {
    const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
    const format = {
      type: 'json_schema',
      json_schema: { name: 'City', strict: true, schema, description: 'A city' },
    };
    const sent = JSON.stringify({ ...schema, additionalProperties: false });
    expect((await encode({ messages: hello, response_format: format }))['outputConfig']).toEqual({
      textFormat: {
        type: 'json_schema',
        structure: { jsonSchema: { name: 'City', description: 'A city', schema: sent } },
      },
    });
    expect(await encode({ messages: hello, response_format: { type: 'text' } })).not.toHaveProperty(
      'outputConfig',
    );
  });
});

describe('the messages for Converse', () => {
  it('have system and developer messages apart, and adjacent messages of one role are merged', async () => {
    const { system, messages } = await encode({
      messages: [
        { role: 'system', content: 'Be kind.' },
        user('One'),
        { role: 'developer', content: [{ type: 'text', text: 'Be short.' }] },
        user([{ type: 'text', text: 'Two' }]),
        { role: 'assistant', content: 'Three' },
        { role: 'assistant', content: [{ type: 'refusal', refusal: 'No' }], refusal: 'Never' },
        user('Four'),
      ],
    });
    expect(system).toEqual([{ text: 'Be kind.' }, { text: 'Be short.' }]);
    expect(messages).toEqual([
      { role: 'user', content: [{ text: 'One' }, { text: 'Two' }] },
      { role: 'assistant', content: [{ text: 'Three' }, { text: 'No' }, { text: 'Never' }] },
      { role: 'user', content: [{ text: 'Four' }] },
    ]);
  });

  it.each([
    ['Claude', CLAUDE, '{"city":'],
    [
      'a model of an unknown vendor',
      'arn:aws:bedrock:eu-central-1:123456789012:imported-model/abc',
      '{"city":',
    ],
    ['another model', NOVA, '{"city": \n'],
  ])('of %s end as it accepts in a last assistant message', async (_, providerModel, text) => {
    const last = (content: unknown) => [user(), { role: 'assistant', content }];
    const encodeLast = async (content: unknown) => {
      const { messages } = await encode({ messages: last(content) }, { providerModel });
      return (messages as { content: Json[] }[]).at(-1)?.content;
    };
    expect(await encodeLast('{"city": \n')).toEqual([{ text }]);
    const part = { type: 'text', text: '{"city": \n', cache_control: ephemeral };
    expect(await encodeLast([{ type: 'text', text: 'Sure: ' }, part])).toEqual([
      { text: 'Sure: ' },
      { text },
      point,
    ]);
  });

  it('keep white space before other content', async () => {
    const { messages } = await encode({
      messages: [user(), { role: 'assistant', content: 'One \n' }, user('Two \n')],
    });
    expect(messages).toMatchObject([
      {},
      { content: [{ text: 'One \n' }] },
      { content: [{ text: 'Two \n' }] },
    ]);
  });

  it('leave out blank texts, which Bedrock refuses', async () => {
    const { system, messages } = await encode({
      messages: [
        { role: 'system', content: '' },
        user([
          { type: 'text', text: ' \n' },
          { type: 'text', text: 'Hi' },
        ]),
        { role: 'assistant', content: '' },
        user('there'),
      ],
    });
    expect(system).toBeUndefined();
    expect(messages).toEqual([{ role: 'user', content: [{ text: 'Hi' }, { text: 'there' }] }]);
    expect((await refusal({ messages: [user('  ')] })).param).toBe('messages');
  });

  it('have the bytes of images', async () => {
    const image = (type: string) => ({
      type: 'image_url',
      image_url: { url: `data:image/${type};base64,aGk=`, detail: 'low' },
    });
    const { messages } = await encode({
      messages: [user([image('png'), image('jpeg'), image('webp'), image('gif')])],
    });
    const block = (format: string) => ({ image: { format, source: { bytes: 'aGk=' } } });
    expect(messages).toEqual([{ role: 'user', content: ['png', 'jpeg', 'webp', 'gif'].map(block) }]);
  });

  it.each([
    'https://example.com/a.png',
    'data:image/tiff;base64,aGk=',
    'data:image/png,aGk=',
    'data:constructor;base64,aGk=',
    7,
  ])('are refused with the image %s', async (url) => {
    const failure = await refusal({
      messages: [user('a'), user([{ type: 'image_url', image_url: { url } }])],
    });
    expect(failure.param).toBe('messages[1].content[0].image_url.url');
    expect(failure.message).not.toContain('example.com');
  });

  it('are refused with parts and roles that cannot be sent', async () => {
    expect((await refusal({ messages: [user([{ type: 'input_audio' }])] })).param).toBe(
      'messages[0].content[0].type',
    );
    expect((await refusal({ messages: [{ role: 'function', content: 'x' }] })).param).toBe(
      'messages[0].role',
    );
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } };
    expect((await refusal({ messages: [{ role: 'system', content: [image] }, user()] })).param).toBe(
      'messages[0].content',
    );
  });

  it('have tool calls, and the results of a turn together', async () => {
    const { messages } = await encode({
      tools,
      messages: [
        user(),
        {
          role: 'assistant',
          content: 'I look.',
          tool_calls: [call('a'), call('b', ''), call('c', '{broken')],
        },
        { role: 'tool', tool_call_id: 'a', content: 'Sunny' },
        {
          role: 'tool',
          tool_call_id: 'b',
          content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } }],
        },
        { role: 'tool', tool_call_id: 'c', content: '' },
        user('And?'),
      ],
    });
    const use = (toolUseId: string, input: object) => ({ toolUse: { toolUseId, name: 'weather', input } });
    const result = (toolUseId: string, content: object[]) => ({ toolResult: { toolUseId, content } });
    expect(messages).toEqual([
      { role: 'user', content: [{ text: 'Hello' }] },
      {
        role: 'assistant',
        content: [
          { text: 'I look.' },
          use('a', { city: 'Bonn' }),
          use('b', {}),
          use('c', { arguments: '{broken' }),
        ],
      },
      {
        role: 'user',
        content: [
          result('a', [{ text: 'Sunny' }]),
          result('b', [{ image: { format: 'png', source: { bytes: 'aGk=' } } }]),
          result('c', []),
          { text: 'And?' },
        ],
      },
    ]);
  });

  it.each([
    ['eu.anthropic.claude-sonnet-4', { status: 'error' }],
    ['amazon.nova-pro-v1:0', { status: 'error' }],
    ['meta.llama3-70b', {}],
  ])('say that a call failed where the model accepts that: %s', async (providerModel, status) => {
    const messages = [
      user('Hello'),
      { role: 'assistant', content: null, tool_calls: [call('a'), call('b')] },
      { role: 'tool', tool_call_id: 'a', content: 'no such city', is_error: true },
      { role: 'tool', tool_call_id: 'b', content: 'Sunny' },
    ];
    const encoded = await encode({ tools, messages }, { providerModel });
    expect((encoded.messages as { content: unknown }[])[2]?.content).toEqual([
      { toolResult: { toolUseId: 'a', content: [{ text: 'no such city' }], ...status } },
      { toolResult: { toolUseId: 'b', content: [{ text: 'Sunny' }] } },
    ]);
  });

  it('have ids of tool calls that Claude accepts, the same for call and result, and other ids for other models', async () => {
    const body = {
      tools,
      messages: [
        user(),
        { role: 'assistant', tool_calls: [call('functions.weather:0'), call('x'.repeat(65)), call('ok-1')] },
        { role: 'tool', tool_call_id: 'x'.repeat(65), content: 'B' },
        { role: 'tool', tool_call_id: 'functions.weather:0', content: 'A' },
        { role: 'tool', tool_call_id: 'ok-1', content: 'C' },
      ],
    };
    const ids = (sent: Json) =>
      (sent['messages'] as { content: Record<string, { toolUseId: string }>[] }[])
        .flatMap(({ content }) => content)
        .flatMap((block) => block['toolUse']?.toolUseId ?? block['toolResult']?.toolUseId ?? []);
    expect(ids(await encode(body))).toEqual([
      'call00000',
      'call00001',
      'ok-1',
      'call00001',
      'call00000',
      'ok-1',
    ]);
    expect(ids(await encode(body, { providerModel: 'moonshot.kimi-k2-thinking' }))[0]).toBe(
      'functions.weather:0',
    );
  });

  it.each([
    ['no tools', {}],
    ['the choice "none"', { tools, tool_choice: 'none' }],
  ])('have calls and results as text with %s: Bedrock refuses them without tools', async (_case, fields) => {
    const sent = await encode({
      ...fields,
      messages: [
        user(),
        { role: 'assistant', content: null, tool_calls: [call('a')] },
        { role: 'tool', tool_call_id: 'a', content: 'Sunny' },
      ],
    });
    expect(sent).not.toHaveProperty('toolConfig');
    expect(sent['messages']).toEqual([
      { role: 'user', content: [{ text: 'Hello' }] },
      { role: 'assistant', content: [{ text: 'Called the tool weather with {"city":"Bonn"}' }] },
      { role: 'user', content: [{ text: 'Result of the tool weather:' }, { text: 'Sunny' }] },
    ]);
  });

  it('repeat signed and encrypted reasoning before the content, and nothing unsigned', async () => {
    const { messages } = await encode({
      messages: [
        user(),
        {
          role: 'assistant',
          content: 'Hi',
          reasoning_content: 'unsigned',
          reasoning_details: [
            { type: 'reasoning.text', index: 0, text: 'Let me ' },
            { type: 'reasoning.text', index: 0, text: 'think', signature: 'c2ln' },
            { type: 'reasoning.encrypted', index: 1, data: 'ZW5j' },
            { type: 'reasoning.text', index: 2, text: 'unsigned' },
            { type: 'reasoning.text', index: 3, text: '', signature: 'b25seQ' },
          ],
        },
        user('Go on'),
      ],
    });
    expect((messages as Json[])[1]).toEqual({
      role: 'assistant',
      content: [
        { reasoningContent: { reasoningText: { text: 'Let me think', signature: 'c2ln' } } },
        { reasoningContent: { redactedContent: 'ZW5j' } },
        { reasoningContent: { reasoningText: { text: '', signature: 'b25seQ' } } },
        { text: 'Hi' },
      ],
    });
  });
});

describe('the tools for Converse', () => {
  it('have names, descriptions and schemas', async () => {
    const bare = { type: 'function', function: { name: 'now', description: ' ', strict: true } };
    const untyped = { type: 'function', function: { name: 'u', parameters: { properties: { a: {} } } } };
    expect((await encode({ messages: hello, tools: [...tools, bare, untyped] }))['toolConfig']).toEqual({
      tools: [
        {
          toolSpec: {
            name: 'weather',
            description: 'Weather',
            inputSchema: { json: { type: 'object', properties: {} } },
          },
        },
        { toolSpec: { name: 'now', inputSchema: { json: { type: 'object', properties: {} } } } },
        { toolSpec: { name: 'u', inputSchema: { json: { type: 'object', properties: { a: {} } } } } },
      ],
    });
  });

  it.each([
    ['auto', undefined],
    ['required', { any: {} }],
    [{ type: 'function', function: { name: 'weather' } }, { tool: { name: 'weather' } }],
  ])('have the choice %j', async (tool_choice, expected) => {
    const { toolConfig } = await encode({ messages: hello, tools, tool_choice });
    expect((toolConfig as Json)['toolChoice']).toEqual(expected);
  });
});

describe('cache points', () => {
  const cached = (text: string, control: object = ephemeral) => ({
    type: 'text',
    text,
    cache_control: control,
  });

  it('follow the parts, tools and calls that request them, with their lifetime', async () => {
    const sent = await encode({
      tools: [{ ...tools[0], cache_control: { type: 'ephemeral', ttl: '1h' } }],
      messages: [
        { role: 'system', content: [cached('S', { type: 'ephemeral', ttl: '5m' })] },
        user([cached('A'), { type: 'text', text: 'B' }]),
        { role: 'assistant', tool_calls: [{ ...call('a'), cache_control: ephemeral }] },
        { role: 'tool', tool_call_id: 'a', content: [cached('R')] },
      ],
    });
    expect((sent['toolConfig'] as { tools: object[] }).tools[1]).toEqual(hourPoint);
    expect(sent['system']).toEqual([{ text: 'S' }, point]);
    const [first, second, third] = sent['messages'] as { content: object[] }[];
    expect(first?.content).toEqual([{ text: 'A' }, point, { text: 'B' }]);
    expect(second?.content.at(-1)).toEqual(point);
    expect(third?.content).toEqual([{ toolResult: { toolUseId: 'a', content: [{ text: 'R' }] } }, point]);
  });

  it('of a blank part are dropped with it', async () => {
    const sent = await encode({ messages: [user([cached('A')]), user([cached(' ')])] });
    expect(sent['messages']).toEqual([{ role: 'user', content: [{ text: 'A' }, point] }]);
  });

  it.each([
    [NOVA, [{ text: 'S' }, point], 1],
    ['openai.gpt-oss-120b-1:0', [{ text: 'S' }], 1],
    [
      'arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc',
      [{ text: 'S' }, hourPoint],
      2,
    ],
  ])('are sent to %s as far as it supports them', async (providerModel, system, blocksOfTools) => {
    const sent = await encode(
      {
        tools: [{ ...tools[0], cache_control: ephemeral }],
        messages: [{ role: 'system', content: [cached('S', { type: 'ephemeral', ttl: '1h' })] }, user()],
      },
      { providerModel },
    );
    expect(sent['system']).toEqual(system);
    expect((sent['toolConfig'] as { tools: object[] }).tools).toHaveLength(blocksOfTools);
  });
});

describe('the reasoning effort', () => {
  const budget = { reasoningBudgets: { low: 1024, high: 8192 } };
  const effort = (reasoning_effort: string, more: object = {}) => ({
    messages: hello,
    reasoning_effort,
    ...more,
  });

  it.each<[string, string, object]>([
    [CLAUDE, 'high', { thinking: { type: 'adaptive' }, output_config: { effort: 'high' } }],
    [CLAUDE, 'minimal', { thinking: { type: 'adaptive' }, output_config: { effort: 'low' } }],
    [NOVA, 'medium', { reasoningConfig: { type: 'enabled', maxReasoningEffort: 'medium' } }],
    [NOVA, 'minimal', { reasoningConfig: { type: 'enabled', maxReasoningEffort: 'low' } }],
    ['openai.gpt-oss-120b-1:0', 'medium', { reasoning_effort: 'medium' }],
    ['qwen.qwen3-32b-v1:0', 'low', { reasoning_config: 'low' }],
    ['qwen.qwen3-32b-v1:0', 'medium', { reasoning_config: 'high' }],
  ])('of %s %s is a field of its model', async (providerModel, level, fields) => {
    const sent = await encode(effort(level), { providerModel });
    expect(sent['additionalModelRequestFields']).toEqual(fields);
    expect(sent).not.toHaveProperty('outputConfig');
  });

  it.each(['us.deepseek.r1-v1:0', 'moonshot.kimi-k2-thinking', 'mistral.magistral-small-2509'])(
    'is dropped for %s, which always or never reasons',
    async (providerModel) => {
      expect(await encode(effort('high'), { providerModel })).toEqual(
        await encode({ messages: hello }, { providerModel }),
      );
    },
  );

  it('is a field of Converse when the ARN does not name the model', async () => {
    const providerModel = 'arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc';
    expect((await encode(effort('high'), { providerModel }))['outputConfig']).toEqual({ effort: 'high' });
  });

  it('of an inference profile is that of its model', async () => {
    const providerModel =
      'arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-sonnet-4-6';
    expect(await encode(effort('low'), { providerModel })).toHaveProperty(
      'additionalModelRequestFields.thinking',
    );
  });

  it('is refused for Nova where it excludes an output limit', async () => {
    expect((await refusal(effort('high'), { providerModel: NOVA })).param).toBe('reasoning_effort');
  });

  it('"none" requests no thinking', async () => {
    expect(await encode(effort('none'))).toEqual(await encode({ messages: hello }));
  });

  it('is a budget within the output limit', async () => {
    const thinking = async (level: string, maxOutputTokens: number) =>
      (await encode(effort(level), { options: budget, maxOutputTokens }))['additionalModelRequestFields'];
    const enabled = (budget_tokens: number) => ({ thinking: { type: 'enabled', budget_tokens } });
    expect(await thinking('high', 32_000)).toEqual(enabled(8192));
    expect(await thinking('high', 4096)).toEqual(enabled(3276));
    expect(await thinking('low', 1280)).toEqual(enabled(1024));
    expect(await thinking('low', 1279)).toBeUndefined();
    expect(await thinking('medium', 4096)).toBeUndefined();
  });

  it.each([
    ['budget', budget, {}],
    ['level', {}, { thinking: { type: 'disabled' } }],
  ])('as a %s excludes sampling and, with a forced tool, thinking', async (_kind, options, disabled) => {
    const sampled = await encode(effort('high', { temperature: 0.2, top_p: 0.5 }), { options });
    expect(sampled['inferenceConfig']).toEqual({ maxTokens: 4096 });
    const forced = await encode(effort('high', { temperature: 0.2, tools, tool_choice: 'required' }), {
      options,
    });
    expect(forced['additionalModelRequestFields'] ?? {}).toMatchObject(disabled);
    expect(JSON.stringify(forced)).not.toMatch(/enabled|adaptive/);
    expect(forced['inferenceConfig']).toEqual({ maxTokens: 4096, temperature: 0.2 });
  });

  it('as a budget needs the reasoning of the tool calls that the request continues', async () => {
    const details = [{ type: 'reasoning.text', index: 0, text: 't', signature: 's' }];
    const loop = (reasoning_details: object[], tail: object[] = []) => ({
      tools,
      reasoning_effort: 'high',
      messages: [
        user(),
        { role: 'assistant', tool_calls: [call('a')], reasoning_details },
        { role: 'tool', tool_call_id: 'a', content: 'Sunny' },
        ...tail,
      ],
    });
    const thinks = async (body: object, options: Partial<TargetOptions>) =>
      JSON.stringify(await encode(body, { options })).includes('"thinking"');
    expect(await thinks(loop(details), budget)).toBe(true);
    expect(await thinks(loop([]), budget)).toBe(false);
    expect(await thinks(loop([], [user('And?')]), budget)).toBe(false);
    expect(await thinks(loop([], [{ role: 'assistant', content: 'Sunny' }, user('Next')]), budget)).toBe(
      true,
    );
    // Adaptive thinking has no such rule.
    expect(await thinks(loop([]), {})).toBe(true);
  });
});
