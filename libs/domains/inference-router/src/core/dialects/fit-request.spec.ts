import { asObject } from '../completion/json';
import type { EncodeCall } from './dialect';
import { dialects, type DialectName } from './registry';

const OPTIONS = {
  host: undefined,
  maxTokensParameter: 'max_tokens',
  developerAsSystem: false,
  forwardReasoningContent: false,
  drops: [],
  reasoningBudgets: undefined,
} as const;
const CLAUDE = 'us.anthropic.claude-x';

async function encode(
  dialect: DialectName,
  body: object,
  {
    providerModel = CLAUDE,
    options = {},
  }: { providerModel?: string; options?: Partial<EncodeCall['options']> } = {},
): Promise<Json> {
  const call: EncodeCall = {
    providerModel,
    stream: false,
    maxOutputTokens: 100,
    n: 1,
    exactSeed: undefined,
    signer: 'aaaaaaaaaaaa',
    ownsUntagged: true,
    options: { ...OPTIONS, ...options },
  };
  const bytes = await dialects[dialect].encodeRequest(Buffer.from(JSON.stringify(body)), call, () =>
    Promise.resolve(),
  );
  return JSON.parse(Buffer.from(bytes).toString()) as Json;
}

type Json = Readonly<Record<string, unknown>>;

/** The texts of all fields of the name. */
const all = (value: unknown, name: string): string[] =>
  [...JSON.stringify(value).matchAll(new RegExp(`"${name}":"([^"]*)"`, 'g'))].map(([, text]) => text ?? '');

/** The value at a path; of an empty list, a negative position counts from the end. */
function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>(
    (found, step) =>
      Array.isArray(found) ? (found as unknown[]).at(Number(step)) : asObject(found)?.[String(step)],
    value,
  );
}

const listAt = (value: unknown, ...path: readonly (string | number)[]): readonly Json[] =>
  at(value, ...path) as readonly Json[];

const ask = { role: 'user', content: 'hi' };
const call = (id: string, name = 'find', args = '{}') => ({
  id,
  type: 'function',
  function: { name, arguments: args },
});
const turn = (...ids: string[]) => [
  { role: 'assistant', tool_calls: ids.map((id) => call(id)) },
  ...ids.map((id) => ({ role: 'tool', tool_call_id: id, content: `of ${id}` })),
];
const tool = (name: string, more: object = {}) => ({ type: 'function', function: { name, ...more } });
const IMAGE = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };

describe('ids of tool calls', () => {
  const messages = [
    ask,
    ...turn('a.b', 'a_b'),
    ...turn('call_0'),
    ...turn('call_0', 'x'.repeat(70), 'call_a|fc_b'),
  ];
  it.each([
    ['anthropic', CLAUDE, /^[a-zA-Z0-9_-]{1,64}$/],
    ['converse', CLAUDE, /^[a-zA-Z0-9_-]{1,64}$/],
    ['converse', 'amazon.nova-pro', /^[a-zA-Z0-9_.:-]{1,64}$/],
  ] as const)(
    '%s %s: fit, are unique and equal in call and result',
    async (dialect, providerModel, pattern) => {
      const sent = await encode(dialect, { messages, tools: [tool('find')] }, { providerModel });
      const blocks = listAt(sent, 'messages').flatMap((message) => listAt(message, 'content'));
      const calls = blocks.flatMap(
        (block) => (block['type'] === 'tool_use' ? block['id'] : at(block, 'toolUse', 'toolUseId')) ?? [],
      );
      const results = blocks.flatMap(
        (block) => block['tool_use_id'] ?? at(block, 'toolResult', 'toolUseId') ?? [],
      );
      for (const id of calls) expect(id).toMatch(pattern);
      expect(new Set(calls).size).toBe(6);
      expect(results).toEqual(calls);
    },
  );

  it('have at most 40 characters at OpenAI, nine at Mistral, and stay elsewhere', async () => {
    const body = { messages, tools: [tool('find')] };
    const idsAt = async (vendor?: 'openai' | 'mistral') =>
      all(await encode('openai', body, vendor ? { options: { vendor } } : {}), 'id');
    expect(await idsAt()).toEqual(['a.b', 'a_b', 'call_0', 'call_0', 'x'.repeat(70), 'call_a|fc_b']);
    expect((await idsAt('openai')).map((id) => id.length <= 40)).not.toContain(false);
    expect(await idsAt('mistral')).toEqual(['0', '1', '2', '3', '4', '5'].map((n) => `call0000${n}`));
  });
});

it.each(['anthropic', 'converse', 'gemini'] as const)(
  '%s: arguments that are no object are a field of one, and halves of characters are replaced',
  async (dialect) => {
    for (const [args, input] of [
      ['[1]', { arguments: '[1]' }],
      ['{"a":', { arguments: '{"a":' }],
      [' ', {}],
      ['{"a":"\\ud83d"}', { a: '\ufffd' }],
    ] as const) {
      const messages = [
        ask,
        { role: 'assistant', tool_calls: [call('c', 'find', args)] },
        ...turn('c').slice(1),
      ];
      const sent = await encode(dialect, { messages, tools: [tool('find')] });
      const [, message] = listAt(sent, dialect === 'gemini' ? 'contents' : 'messages');
      const [part] = listAt(message, dialect === 'gemini' ? 'parts' : 'content');
      const encoded = at(part, 'toolUse', 'input') ?? at(part, 'functionCall', 'args') ?? part?.['input'];
      expect(encoded).toEqual(input);
    }
  },
);

it.each([
  ['anthropic', /^[a-zA-Z0-9_-]{1,64}$/],
  ['converse', /^[a-zA-Z0-9_-]{1,64}$/],
  ['gemini', /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/],
  ['openai', /^[a-zA-Z0-9_-]{1,64}$/],
] as const)('%s: names of tools fit, in definitions, choice and history', async (dialect, pattern) => {
  const names = ['fs.read', 'fs_read', '1st', 'm'.repeat(100), `${'m'.repeat(100)}n`, 'a/b:c'];
  const messages = [ask, { role: 'assistant', tool_calls: names.map((name, at) => call(`c${at}`, name)) }];
  const body = {
    messages: [
      ...messages,
      ...names.map((_, at) => ({ role: 'tool', tool_call_id: `c${at}`, content: 'x' })),
    ],
    tools: names.map((name) => tool(name, { parameters: { type: 'object' } })),
    tool_choice: { type: 'function', function: { name: 'a/b:c' } },
  };
  const sent = all(await encode(dialect, body), 'name');
  for (const name of sent) expect(name).toMatch(pattern);
  expect(new Set(sent).size).toBe(6);
});

it.each(['anthropic', 'converse', 'gemini'] as const)('%s: begins with the user', async (dialect) => {
  const assistant = { role: 'assistant', content: 'hello' };
  for (const messages of [
    [assistant, ask],
    [{ role: 'system', content: 'be brief' }],
    [{ role: 'system', content: 's' }, assistant],
  ]) {
    const sent = await encode(dialect, { messages });
    expect(at(sent['messages'] ?? sent['contents'], 0, 'role')).toBe('user');
  }
});

describe('images in results', () => {
  const messages = [
    ask,
    { role: 'assistant', tool_calls: [call('a'), call('b')] },
    { role: 'tool', tool_call_id: 'a', content: [IMAGE] },
    { role: 'tool', tool_call_id: 'b', content: [{ type: 'text', text: 'two' }, IMAGE] },
  ];
  it('follow the results on other models of Bedrock', async () => {
    const sent = await encode(
      'converse',
      { messages, tools: [tool('find')] },
      { providerModel: 'meta.llama4' },
    );
    const blocks = listAt(sent, 'messages', -1, 'content');
    expect(blocks.map((block) => Object.keys(block)[0])).toEqual([
      'toolResult',
      'toolResult',
      'image',
      'image',
    ]);
    const claude = await encode('converse', { messages, tools: [tool('find')] });
    expect(at(claude, 'messages', -1, 'content')).toHaveLength(2);
  });
  it('follow the results at OpenAI, which accepts text there', async () => {
    const sent = await encode('openai', { messages }, { options: { vendor: 'openai' } });
    expect(listAt(sent, 'messages').map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'tool',
      'user',
    ]);
    expect((await encode('openai', { messages }))['messages']).toEqual(messages);
  });
});

it('sends the allowed tools only, where the vendor has no such choice', async () => {
  const choice = { mode: 'required', tools: [tool('b')] };
  const body = {
    messages: [ask],
    tools: [tool('a'), tool('b')],
    tool_choice: { type: 'allowed_tools', allowed_tools: choice },
  };
  const claude = await encode('anthropic', body);
  expect(listAt(claude, 'tools').map(({ name }) => name)).toEqual(['b']);
  expect(claude['tool_choice']).toEqual({ type: 'any' });
  expect((await encode('openai', body, { options: { vendor: 'openai' } }))['tool_choice']).toEqual(
    body.tool_choice,
  );
  expect((await encode('openai', body))['tool_choice']).toBe('required');
});

it('repairs a history of tool calls of a model with that setting', async () => {
  const messages = [
    { role: 'tool', tool_call_id: 'lost', content: 'old' },
    { role: 'assistant', tool_calls: [call('a'), call('b')] },
    ask,
    { role: 'tool', tool_call_id: 'a', content: 'A' },
  ];
  const sent = await encode('openai', { messages }, { options: { repairsToolHistory: true } });
  expect(listAt(sent, 'messages').map(({ role, tool_call_id: id }) => id ?? role)).toEqual([
    'user',
    'assistant',
    'a',
    'b',
    'user',
  ]);
  expect((await encode('openai', { messages }))['messages']).toEqual(messages);
});

describe('schemas', () => {
  const schema = {
    type: 'object',
    properties: {
      age: { type: 'integer', minimum: 0, description: 'Years' },
      tags: { type: 'array', minItems: 2, items: { type: 'string', minLength: 1, format: 'uri' } },
      place: { $ref: '#/$defs/Place', description: 'Where' },
    },
    $defs: { Place: { type: 'object', properties: { city: { type: 'string', pattern: '^.' } } } },
  };
  const format = (used: object) => ({ type: 'json_schema', json_schema: { name: 'x', schema: used } });
  const recursive = { type: 'object', required: ['next'], properties: { next: { $ref: '#' } } };

  it.each(['anthropic', 'converse'] as const)(
    '%s: keywords that Claude refuses move into descriptions',
    async (dialect) => {
      const sent = await encode(dialect, { messages: [ask], response_format: format(schema) });
      const text = at(sent, 'outputConfig', 'textFormat', 'structure', 'jsonSchema', 'schema');
      const used = at(sent, 'output_config', 'format', 'schema') ?? (JSON.parse(String(text)) as unknown);
      expect(at(used, 'additionalProperties')).toBe(false);
      expect(at(used, 'properties', 'age')).toEqual({
        type: 'integer',
        description: 'Years\n\n{minimum: 0}',
      });
      expect(at(used, 'properties', 'tags')).toEqual({
        type: 'array',
        items: { type: 'string', format: 'uri', description: '{minLength: 1}' },
        description: '{minItems: 2}',
      });
      expect(at(used, 'properties', 'place')).toEqual({
        anyOf: [{ $ref: '#/$defs/Place' }],
        description: 'Where',
      });
      expect(at(used, '$defs', 'Place', 'additionalProperties')).toBe(false);
      await expect(
        encode(dialect, { messages: [ask], response_format: format(recursive) }),
      ).rejects.toMatchObject({
        kind: 'rejected',
        param: 'response_format',
      });
    },
  );

  it('strict tools of Claude follow the same rules', async () => {
    const strict = { strict: true, parameters: schema };
    const tools = [
      tool('a', strict),
      tool('b', { strict: true, parameters: recursive }),
      tool('c', { parameters: schema }),
    ];
    const sent = listAt(await encode('anthropic', { messages: [ask], tools }), 'tools');
    expect(at(sent, 0, 'input_schema', 'properties', 'age')).not.toHaveProperty('minimum');
    expect(sent[1]).not.toHaveProperty('strict');
    expect(sent[2]?.['input_schema']).toEqual(schema);
  });

  it('Gemini gets no keyword next to a reference, and no recursion', async () => {
    const used = at(
      await encode('gemini', { messages: [ask], response_format: format(schema) }),
      'generationConfig',
      'responseJsonSchema',
    );
    expect(at(used, 'properties', 'place')).toEqual({ ...schema.$defs.Place, description: 'Where' });
    expect(at(used, 'properties', 'age')).toEqual(schema.properties.age);
    const tools = [tool('a', { parameters: recursive })];
    expect(JSON.stringify(await encode('gemini', { messages: [ask], tools }))).not.toContain('$ref');
  });

  const union = {
    type: 'object',
    description: 'A place',
    properties: { kind: { type: 'string' } },
    required: ['kind'],
    oneOf: [
      {
        properties: { city: { type: 'string' }, zone: { type: 'integer' } },
        required: ['city', 'zone'],
      },
      { $ref: '#/$defs/Point' },
    ],
    $defs: { Point: { properties: { zone: { type: 'string' } }, required: ['zone'] } },
  };

  it.each([
    ['anthropic', CLAUDE, false],
    ['anthropic', CLAUDE, true],
    ['converse', CLAUDE, false],
  ] as const)(
    '%s %s: a union at the top of a tool merges into its properties, strict %s',
    async (dialect, providerModel, strict) => {
      const tools = [tool('a', { parameters: union, strict })];
      const sent = await encode(dialect, { messages: [ask], tools }, { providerModel });
      const used =
        at(sent, 'tools', 0, 'input_schema') ??
        at(sent, 'toolConfig', 'tools', 0, 'toolSpec', 'inputSchema', 'json');
      expect(used).not.toHaveProperty('oneOf');
      expect(at(used, 'required')).toEqual(['kind', 'zone']);
      expect(Object.keys(at(used, 'properties') as object)).toEqual(['kind', 'city', 'zone']);
      expect(at(used, 'properties', 'zone', 'anyOf')).toHaveLength(2);
      expect(at(used, 'description')).toContain('A place\n\n{"oneOf":[');
    },
  );

  it.each([
    ['gemini', {}],
    ['converse', { providerModel: 'amazon.nova-pro' }],
    ['openai', { options: { vendor: 'openai' } }],
  ] as const)('%s: a union at the top of a tool stays', async (dialect, options) => {
    const parameters = { type: 'object', anyOf: [{ required: ['a'] }, { required: ['b'] }] };
    const sent = await encode(dialect, { messages: [ask], tools: [tool('a', { parameters })] }, options);
    expect(JSON.stringify(sent)).toContain(JSON.stringify(parameters.anyOf));
  });

  it('Gemini gets no recursion through required properties, also in a schema that is too large to be resolved', async () => {
    const names = Array.from({ length: 12 }, (_, n) => `N${n}`);
    const node = {
      type: 'object',
      required: ['name', ...names],
      properties: {
        name: { $ref: '#/$defs/Name' },
        ...Object.fromEntries(names.map((name) => [name, { $ref: `#/$defs/${name}` }])),
      },
    };
    const large = {
      ...node,
      $defs: { Name: { type: 'string' }, ...Object.fromEntries(names.map((name) => [name, node])) },
    };
    const sent = await encode('gemini', { messages: [ask], tools: [tool('a', { parameters: large })] });
    const used = at(sent, 'tools', 0, 'functionDeclarations', 0, 'parametersJsonSchema');
    expect(JSON.stringify(used)).toContain('$ref');
    expect(at(used, 'required')).toEqual(['name']);
    expect(at(used, '$defs', 'N3', 'required')).toEqual(['name']);
  });
});

it('OpenAI gets names of authors that it accepts, with and without tools; other servers get the same', async () => {
  const names = ['Ada Lovelace', 'a/b<c>', 'x'.repeat(100), 'ada'];
  const messages = names.map((name) => ({ role: 'user', content: 'hi', name }));
  for (const body of [{ messages }, { messages, tools: [tool('find')] }]) {
    const sent = await encode('openai', body, { options: { vendor: 'openai' } });
    expect(listAt(sent, 'messages').map(({ name }) => name)).toEqual([
      'Ada_Lovelace',
      'a_b_c_',
      'x'.repeat(64),
      'ada',
    ]);
    expect((await encode('openai', body))['messages']).toEqual(messages);
  }
});

it.each([
  ['anthropic', { messages: [ask], temperature: 1.5 }, 'temperature'],
  ['converse', { messages: [ask], temperature: 1.5 }, 'temperature'],
  ['anthropic', { messages: [{ role: 'system', content: [IMAGE] }, ask] }, 'messages'],
  ['converse', { messages: [{ role: 'system', content: [IMAGE] }, ask] }, 'messages[0].content'],
  ['gemini', { messages: [{ role: 'system', content: [IMAGE] }, ask] }, 'messages'],
] as const)('%s: what it cannot express is refused here: %j', async (dialect, body, param) => {
  await expect(encode(dialect, body)).rejects.toMatchObject({ kind: 'rejected', param });
});

describe('the fields that a target drops', () => {
  it.each(Object.keys(dialects) as DialectName[])('are not sent in the dialect %s', async (dialect) => {
    const body = { messages: [ask], temperature: 0.5, seed: 7 };
    const sent = await encode(dialect, body, { options: { drops: ['temperature', 'seed'] } });
    expect(JSON.stringify(sent)).not.toMatch(/temperature|seed/);
    expect(JSON.stringify(await encode(dialect, body))).toContain('temperature');
  });

  it('keep their names in tools and texts', async () => {
    const parameters = { type: 'object', properties: { seed: { type: 'string' } } };
    const tools = [{ type: 'function', function: { name: 'sow', parameters } }];
    const body = { messages: [{ role: 'user', content: '"seed":' }], tools };
    expect(await encode('openai', body, { options: { drops: ['seed'] } })).toMatchObject(body);
  });
});

it('Groq gets no names of authors', async () => {
  const options = { vendor: 'groq' } as const;
  const body = { messages: [{ ...ask, name: 'ann' }] };
  expect(listAt(await encode('openai', body, { options }), 'messages')).toEqual([ask]);
  expect(listAt(await encode('openai', body), 'messages')).toEqual(body.messages);
  const withTools = { ...body, tools: [tool('find')] };
  const sent = await encode('openai', withTools, { options });
  expect(listAt(sent, 'messages')).toEqual([ask]);
  expect(sent['tools']).toEqual(withTools.tools);
});

describe('a turn of tool calls without its reasoning', () => {
  const turn = { role: 'assistant', content: null, tool_calls: [call('a')] };
  const result = { role: 'tool', tool_call_id: 'a', content: '1' };
  const body = { messages: [ask, turn, result, { ...turn, reasoning_content: 'I think.' }, result] };
  const sent = async (options: Partial<EncodeCall['options']>) =>
    all(listAt(await encode('openai', body, { options }), 'messages'), 'reasoning(?:_content)?');

  it('is sent with an empty one to targets that need the reasoning of earlier turns', async () => {
    expect(await sent({ forwardReasoningContent: true })).toEqual(['', 'I think.']);
  });

  it('is sent as it is to all others, and to OpenRouter', async () => {
    expect(await sent({ forwardReasoningContent: true, vendor: 'openrouter' })).toEqual(['I think.']);
    expect(await sent({})).toEqual([]);
  });
});

describe.each([
  ['openai', undefined],
  ['anthropic', '"is_error":true'],
  ['gemini', '"response":{"error":"no such city"}'],
  ['converse', '"status":"error"'],
] as const)('the dialect %s', (dialect, field) => {
  it('says that a call failed where its API can, and never in a field of another API', async () => {
    const call = { id: 'call_1', type: 'function', function: { name: 'find', arguments: '{}' } };
    const messages = (result: object) => [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', tool_calls: [call] },
      { role: 'tool', tool_call_id: 'call_1', content: 'no such city', ...result },
    ];
    const tools = [{ type: 'function', function: { name: 'find', parameters: { type: 'object' } } }];
    const failed = JSON.stringify(await encode(dialect, { messages: messages({ is_error: true }), tools }));
    const plain = JSON.stringify(await encode(dialect, { messages: messages({}), tools }));
    expect(failed).toContain('no such city');
    if (field === undefined) expect(failed).toBe(plain);
    else {
      expect(failed).toContain(field);
      expect(plain).not.toContain(field);
    }
  });
});
