import { type ModelEmulator, startModelEmulator } from '../index';

let emulator: ModelEmulator;
let origin: string;
beforeAll(async () => {
  emulator = await startModelEmulator();
  ({ origin } = new URL(emulator.url));
});
afterAll(() => emulator.close());

async function post(path: string, body: object) {
  const response = await fetch(`${origin}${path}`, { method: 'POST', body: JSON.stringify(body) });
  return { status: response.status, headers: response.headers, body: (await response.json()) as never };
}

const gemini = (changes: object = {}, text = 'Hello') => ({
  requests: [{ model: 'models/emu-embed', content: { parts: [{ text }] }, ...changes }],
});
const vertex = (changes: object = {}, parameters: object = { autoTruncate: false }) => ({
  instances: [{ content: 'Hello', ...changes }],
  parameters,
});
const cohere = (changes: object = {}) => ({
  ...{ texts: ['Hello'], input_type: 'search_query', embedding_types: ['float'] },
  ...changes,
});
const OPENAI = '/v1/embeddings';
const GEMINI = '/v1beta/models/emu-embed:batchEmbedContents';
const VERTEX = '/v1/projects/p/locations/eu/publishers/google/models/emu-embed:predict';
const TITAN = '/model/amazon.titan-embed-text-emu/invoke';
const COHERE = '/model/eu.cohere.embed-emu/invoke';

it('returns the same embedding for equal inputs, as numbers and as base64', async () => {
  const body = { model: 'emu-embed', input: ['Hello', 'Bye'], dimensions: 256 };
  type List = { data: { embedding: number[] }[]; usage: object };
  const { body: numbers } = await post(OPENAI, body);
  const { body: base64 } = await post(OPENAI, { ...body, encoding_format: 'base64' });
  const decoded = (base64 as { data: { embedding: string }[] }).data.map(({ embedding }) => {
    const bytes = Buffer.from(embedding, 'base64');
    return Array.from({ length: bytes.length / 4 }, (_, index) => bytes.readFloatLE(index * 4));
  });
  expect(decoded).toEqual((numbers as List).data.map(({ embedding }) => embedding));
  expect((numbers as List).usage).toEqual({ prompt_tokens: 2, total_tokens: 2 });
});

it('reports usage as each provider does', async () => {
  expect((await post(GEMINI, gemini())).body).toEqual({
    embeddings: [{ values: expect.any(Array) as never }],
  });
  expect((await post(VERTEX, vertex())).body).toMatchObject({
    predictions: [{ embeddings: { statistics: { token_count: 1 } } }],
  });
  expect((await post(TITAN, { inputText: 'Hello' })).body).toMatchObject({ inputTextTokenCount: 1 });
  const { headers, body } = await post(COHERE, cohere());
  expect(headers.get('x-amzn-bedrock-input-token-count')).toBe('1');
  expect(body).not.toHaveProperty('usage');
});

it.each<[string, string, object]>([
  ['an unknown field', OPENAI, { model: 'emu-embed', input: 'Hi', foo: 1 }],
  ['an empty input', OPENAI, { model: 'emu-embed', input: [''] }],
  ['inputs of two kinds', OPENAI, { model: 'emu-embed', input: ['a', [1]] }],
  ['another length', OPENAI, { model: 'emu-embed', input: 'Hi', dimensions: 7 }],
  ['a length of a model with one', OPENAI, { model: 'emu-embed-fixed', input: 'Hi', dimensions: 384 }],
  ['too many tokens', OPENAI, { model: 'emu-embed-fixed', input: 'word '.repeat(600) }],
  ['too many inputs', OPENAI, { model: 'emu-embed', input: Array.from({ length: 2_049 }, () => 'a') }],
  ['an unknown field', GEMINI, gemini({ foo: 1 })],
  ['an unknown task', GEMINI, gemini({ taskType: 'SING' })],
  ['another model than that of the path', GEMINI, gemini({ model: 'models/other' })],
  ['too many inputs', GEMINI, { requests: Array.from({ length: 101 }, () => gemini().requests[0]) }],
  ['truncation', VERTEX, vertex({}, {})],
  ['an unknown field', VERTEX, vertex({ taskType: 'CLUSTERING' })],
  ['an unknown field', TITAN, { inputText: 'Hi', texts: [] }],
  ['no text', TITAN, {}],
  ['no type of input', COHERE, cohere({ input_type: undefined })],
  ['too many inputs', COHERE, cohere({ texts: Array.from({ length: 97 }, () => 'a') })],
])('refuses %s at %s', async (_what, path, body) => {
  expect((await post(path, body)).status).toBe(400);
});

it('applies faults', async () => {
  const failed = await post(TITAN, { inputText: '[[fault:429]]' });
  expect([failed.status, failed.headers.get('x-amzn-errortype')]).toEqual([429, 'ThrottlingException']);
  const silent = await post(COHERE, cohere({ texts: ['[[fault:no-usage]]'] }));
  expect(silent.headers.get('x-amzn-bedrock-input-token-count')).toBeNull();
});
