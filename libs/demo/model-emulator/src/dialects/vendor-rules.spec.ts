import { startModelEmulator, type ModelEmulator } from '../index';

const PNG =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const IMAGE = { type: 'image_url', image_url: { url: PNG } };

let emulator: ModelEmulator;
beforeAll(async () => {
  emulator = await startModelEmulator();
});
afterAll(() => emulator.close());

async function post(path: string, body: object) {
  const response = await fetch(new URL(path, emulator.url), {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'anthropic-version': '2023-06-01' },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as { error?: object } };
}

const ask = { role: 'user', content: 'hi' };
const called = (id: string, name = 'find', content: unknown = 'done') => [
  ask,
  { role: 'assistant', tool_calls: [{ id, type: 'function', function: { name, arguments: '{}' } }] },
  { role: 'tool', tool_call_id: id, content },
];
const chat = (messages: readonly object[]) => ({ model: 'emu-vision', max_tokens: 5, messages });

/** What vendors refuse, with the field that the error names, and other servers accept. */
const cases = {
  'an image in a tool message': ['openai', called('c', 'find', [IMAGE]), 'messages[2]', 'invalid_value'],
  'an image of an assistant': [
    'openai',
    [ask, { role: 'assistant', content: [IMAGE] }],
    'messages[1]',
    'invalid_value',
  ],
  'a long id': ['openai', called('c'.repeat(41)), 'messages[1].tool_calls[0].id', 'string_above_max_length'],
  'the name of a called function': [
    'openai',
    called('c', 'fs.read'),
    'messages[1].tool_calls[0].function.name',
    'invalid_value',
  ],
  'a name with a space': ['openai', [{ ...ask, name: 'Ada L' }], 'messages[0].name', 'invalid_value'],
  'a long name': [
    'openai',
    [{ ...ask, name: 'a'.repeat(65) }],
    'messages[0].name',
    'string_above_max_length',
  ],
} as const;

describe.each(Object.entries(cases))('%s', (_, [vendor, messages, param, code]) => {
  it('is refused with the error of the vendor, on each of its paths', async () => {
    for (const path of [`/${vendor}/v1/chat/completions`, `/${vendor}/deployments/d/chat/completions`]) {
      const { status, body } = await post(path, chat(messages));
      expect([status, body.error]).toEqual([400, expect.objectContaining({ param, code })]);
    }
  });

  it('is accepted by a server without rules of its own', async () => {
    expect(await post('/v1/chat/completions', chat(messages))).toMatchObject({ status: 200 });
  });
});

it('Mistral refuses ids of calls that are not nine letters and digits, with an error that is not nested', async () => {
  const refused = await post('/mistral/v1/chat/completions', chat(called('call_0')));
  expect(refused).toMatchObject({ status: 400, body: { object: 'error', code: '3280', param: null } });
  expect(await post('/mistral/v1/chat/completions', chat(called('call00001')))).toMatchObject({
    status: 200,
  });
});

it.each(['json_object', 'json_schema'])('Groq refuses the format %s in a stream only', async (type) => {
  const format = { type, ...(type === 'json_schema' ? { json_schema: { name: 'a', schema: {} } } : {}) };
  const body = { ...chat([ask]), response_format: format };
  const path = '/groq/v1/chat/completions';
  expect(await post(path, body)).toMatchObject({ status: 200 });
  expect(await post(path, { ...body, stream: true })).toMatchObject({
    status: 400,
    body: { error: { message: expect.stringContaining('does not support streaming') } },
  });
});

it.each(['anyOf', 'oneOf', 'allOf'])('Claude refuses %s at the top of the schema of a tool', async (name) => {
  const schema = { type: 'object', [name]: [{ properties: {} }] };
  const messages = [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }];
  const tools = [{ name: 'find', input_schema: schema }];
  const anthropic = await post('/v1/messages', { ...chat(messages), tools });
  expect(anthropic).toMatchObject({
    status: 400,
    body: { error: { type: 'invalid_request_error', message: expect.stringContaining('top level') } },
  });
  const converse = {
    messages: [{ role: 'user', content: [{ text: 'hi' }] }],
    toolConfig: { tools: [{ toolSpec: { name: 'find', inputSchema: { json: schema } } }] },
  };
  expect(await post('/model/us.anthropic.emu-vision/converse', converse)).toMatchObject({ status: 400 });
  expect(await post('/model/meta.emu-vision/converse', converse)).toMatchObject({ status: 200 });
});

describe('Gemini', () => {
  const declare = (parametersJsonSchema: object) =>
    post('/v1beta/models/emu-vision:generateContent', {
      contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
      tools: [{ functionDeclarations: [{ name: 'find', parametersJsonSchema }] }],
    });
  const node = (required: readonly string[]) => ({
    type: 'object',
    required,
    properties: { next: { anyOf: [{ $ref: '#/$defs/Other' }] } },
  });
  const cyclic = (required: readonly string[]) => ({
    type: 'object',
    properties: { first: { $ref: '#/$defs/Node' } },
    $defs: { Node: node(required), Other: { type: 'array', items: { $ref: '#/$defs/Node' } } },
  });

  it('accepts cyclic references in properties that are not required only', async () => {
    expect(await declare(cyclic([]))).toMatchObject({ status: 200 });
    expect(await declare(cyclic(['next']))).toMatchObject({
      status: 400,
      body: { error: { status: 'INVALID_ARGUMENT' } },
    });
  });
});

describe('shapes that OpenAI accepts', () => {
  it.each([
    [
      'a refusal as a part',
      [ask, { role: 'assistant', content: [{ type: 'refusal', refusal: 'no' }] }, ask],
      {},
    ],
    [
      'a JSON format without a schema',
      [ask],
      { response_format: { type: 'json_schema', json_schema: { name: 'x' } } },
    ],
  ])('%s', async (_, messages, more) => {
    for (const path of ['/v1/chat/completions', '/openai/v1/chat/completions'])
      expect(await post(path, { ...chat(messages), ...more })).toMatchObject({ status: 200 });
  });

  it('no part of a user is a refusal', async () => {
    const messages = [{ role: 'user', content: [{ type: 'refusal', refusal: 'no' }] }];
    expect(await post('/v1/chat/completions', chat(messages))).toMatchObject({ status: 400 });
  });
});
