import { OpenAIEmbeddings } from '@langchain/openai';
import type OpenAI from 'openai';
import type { Tenant } from '@gateway/test-support';
import {
  credits,
  expectedCostNanoUsd,
  nano,
  nothingReserved,
  pricingOf,
  settledGeneration,
  usageOnceAllCharged,
} from './testing/accounting';
import { embeddingModels, writeModelsOfAllDialects } from './testing/dialect-models';
import { startTestEnv, type TestEnv } from './testing/test-env';

jest.setTimeout(180_000);

let testEnv: TestEnv;

beforeAll(async () => {
  const { modelsFile, env } = writeModelsOfAllDialects();
  testEnv = await startTestEnv({ modelsFile, env: { ...env, GATEWAY_ENDPOINTS: 'chat,embeddings' } });
});

afterAll(() => testEnv?.stop());

let tenant: Tenant;
let client: OpenAI;

beforeEach(async () => {
  tenant = await testEnv.tenant();
  client = testEnv.client(tenant.apiKey);
});

/** After everything that ran: what was charged is what the usage says, to the nano-dollar, and nothing is reserved. */
afterEach(async () => {
  const { baseUrl } = testEnv.gateway;
  await nothingReserved(baseUrl, tenant.apiKey);
  await usageOnceAllCharged(baseUrl, tenant.apiKey);
});

type Usage = OpenAI.CreateEmbeddingResponse['usage'] & { readonly cost: number };

async function expectCharged(response: Response, model: string, usage: Usage): Promise<void> {
  const { baseUrl } = testEnv.gateway;
  const id = response.headers.get('x-generation-id') ?? '';
  const generation = await settledGeneration(baseUrl, tenant.apiKey, id);
  const counts = { prompt_tokens: usage.prompt_tokens, completion_tokens: 0 };
  const cost = expectedCostNanoUsd(counts, await pricingOf(baseUrl, tenant.apiKey, model));
  expect(cost).toBeGreaterThan(0n);
  expect([nano(generation.total_cost), nano(usage.cost)]).toEqual([cost, cost]);
  expect(generation).toMatchObject({ model, tokens_completion: 0, streamed: false, cancelled: false });
  expect(generation.tokens_prompt).toBe(usage.prompt_tokens);
}

const names = Object.keys(embeddingModels) as (keyof typeof embeddingModels)[];

describe.each(names)('the SDK of OpenAI, unmodified, with the model %s', (name) => {
  const { dimensions } = embeddingModels[name];
  const model = `dialect/${name}`;
  const [length] = dimensions;
  const shortest = dimensions.at(-1) ?? length;

  it('gets embeddings, and the cost is exact', async () => {
    const input = ['The food was delicious.', 'The waiter was not.', 'x'];
    const { data, response } = await client.embeddings.create({ model, input }).withResponse();
    expect(data).toMatchObject({ object: 'list', model });
    expect(data.data.map(({ index, embedding }) => [index, embedding.length])).toEqual(
      input.map((_, index) => [index, length]),
    );
    const usage = data.usage as Usage;
    expect(usage.total_tokens).toBe(usage.prompt_tokens);
    await expectCharged(response, model, usage);
  });

  it('gets the same numbers in both encodings, and the requested length', async () => {
    const ask = (encoding_format?: 'float' | 'base64') =>
      client.embeddings.create({
        ...{ model, input: 'Hello', dimensions: shortest },
        ...(encoding_format === undefined ? {} : { encoding_format }),
      });
    // Without an encoding, the SDK requests base64 and decodes it.
    const [decoded, numbers, base64] = await Promise.all([ask(), ask('float'), ask('base64')]);
    const of = ({ data }: OpenAI.CreateEmbeddingResponse) => data[0]?.embedding as unknown;
    expect(of(numbers)).toHaveLength(shortest);
    expect(of(decoded)).toEqual(of(numbers));
    const bytes = Buffer.from(of(base64) as string, 'base64');
    expect(bytes.readFloatLE(4)).toBe((of(numbers) as number[])[1]);
  });

  it('gets a large batch in the order of its inputs', async () => {
    const input = Array.from({ length: 210 }, (_, index) => `document ${index}`);
    const { data, response } = await client.embeddings
      .create({ model, input, dimensions: shortest })
      .withResponse();
    const [last] = (await client.embeddings.create({ model, input: 'document 209', dimensions: shortest }))
      .data;
    expect(data.data[209]?.embedding).toEqual(last?.embedding);
    await expectCharged(response, model, data.usage as Usage);
  });

  it('is charged once with an Idempotency-Key, and gets the stored response', async () => {
    const headers = { 'Idempotency-Key': `embed-${name}` };
    const body = { model, input: 'Once.' };
    const first = await client.embeddings.create(body, { headers }).withResponse();
    const again = await client.embeddings.create(body, { headers }).withResponse();
    expect(again.response.headers.get('idempotent-replayed')).toBe('true');
    expect(again.data).toEqual(first.data);
    const other = client.embeddings.create({ ...body, input: 'Twice.' }, { headers });
    await expect(other).rejects.toMatchObject({ status: 422, code: 'idempotency_key_reused' });
    const { totals } = await usageOnceAllCharged(testEnv.gateway.baseUrl, tenant.apiKey);
    expect(totals.requests).toBe(1);
  });

  it('is charged nothing for a provider that fails', async () => {
    const failing = client.embeddings.create({ model, input: '[[fault:500]]' }, { maxRetries: 0 });
    await expect(failing).rejects.toMatchObject({ status: 502, code: 'upstream_error' });
    expect((await credits(testEnv.gateway.baseUrl, tenant.apiKey)).total_usage).toBe(0);
  });
});

describe.each(names)('LangChain, unmodified, with the model %s', (name) => {
  const model = `dialect/${name}`;
  const shortest = embeddingModels[name].dimensions.at(-1) ?? 0;
  const embeddingsOf = (more: object = {}) =>
    new OpenAIEmbeddings({
      ...{ model, apiKey: tenant.apiKey, maxRetries: 0 },
      configuration: { baseURL: testEnv.gateway.baseUrl },
      ...more,
    });

  it('gets what the SDK of OpenAI gets, for queries and documents in batches', async () => {
    const texts = ['The food was delicious.', 'The waiter was not.', 'x'];
    const { data } = await client.embeddings.create({ model, input: texts, dimensions: shortest });
    const expected = data.map(({ embedding }) => embedding);
    const batched = embeddingsOf({ dimensions: shortest, batchSize: 2 });
    expect(await batched.embedDocuments(texts)).toEqual(expected);
    expect(await batched.embedQuery('x')).toEqual(expected[2]);
    expect(await embeddingsOf().embedQuery('x')).toHaveLength(embeddingModels[name].dimensions[0]);
  });

  it('fails with the error of a chat model', async () => {
    const failing = embeddingsOf({ model: 'demo/standard' }).embedQuery('x');
    await expect(failing).rejects.toMatchObject({ status: 404, code: 'model_not_found' });
  });
});

describe('refusals', () => {
  const model = 'dialect/openai-embed';
  const chat = { messages: [{ role: 'user' as const, content: 'Hi' }] };

  it('keeps chat models and embedding models apart', async () => {
    const notFound = { status: 404, code: 'model_not_found', param: 'model' };
    await expect(client.chat.completions.create({ model, ...chat })).rejects.toMatchObject(notFound);
    await expect(client.embeddings.create({ model: 'demo/standard', input: 'Hi' })).rejects.toMatchObject(
      notFound,
    );
  });

  it.each<[object, string, string]>([
    [{ input: [] }, 'missing_messages', 'input'],
    [{ input: 'Hi', foo: 1 }, 'unknown_parameter', 'foo'],
    [{ input: ['Hi', ''] }, 'invalid_request', 'input[1]'],
    [{ input: 'Hi', dimensions: 3 }, 'invalid_request', 'dimensions'],
    [{ input: Array.from({ length: 8_193 }, () => 1) }, 'context_length_exceeded', 'input'],
    [{ input: 'word '.repeat(9_000) }, 'context_length_exceeded', 'input'],
  ])('%.40j is %s', async (fields, code, param) => {
    const refused = client.embeddings.create({ model, ...fields } as OpenAI.EmbeddingCreateParams);
    await expect(refused).rejects.toMatchObject({ status: 400, code, param });
  });

  it('refuses tokens to a provider with others', async () => {
    const refused = client.embeddings.create({ model: 'dialect/gemini-embed', input: [1, 2] });
    await expect(refused).rejects.toMatchObject({ code: 'invalid_request', param: 'input[0]' });
  });

  it('lists each model with its endpoint', async () => {
    const { data } = await client.models.list();
    const endpointsOf = (id: string) =>
      (data.find((each) => each.id === id) as { endpoints?: string[] } | undefined)?.endpoints;
    expect(endpointsOf(model)).toEqual(['/v1/embeddings']);
    expect(endpointsOf('demo/standard')).toEqual(['/v1/chat/completions']);
  });
});
