import type { GenerateRequest, GenerateResponse } from '@gateway/contracts/inference-router';
import { GatewayError } from '@gateway/errors';
import { model, startEdge, type TestEdge, until } from '../../testing/start-edge';
import { aborted, finished } from '../../testing/stub-router';

const PATH = '/v1/embeddings';
const BODY = { model: 'acme/embed', input: ['Hello', 'Bye'] };
const LENGTH = 1_500;

const models = [
  model(),
  model({ id: 'acme/embed', maxOutputTokens: 0, capabilities: [], embeddingDimensions: [LENGTH, 4] }),
];

let edge: TestEdge;
beforeEach(async () => {
  edge = await startEdge({ models, settings: { endpoints: ['chat', 'embeddings'] } });
  edge.router.script = embeddings;
});
afterEach(() => edge.stop());

const numbers = (index: number) => Array.from({ length: LENGTH }, (_, at) => Math.fround(index + at / 7));

/** As the router responds. */
async function* embeddings(request: GenerateRequest): AsyncIterable<GenerateResponse> {
  const { input } = JSON.parse(request.bodyJson.toString()) as { input: unknown[] };
  const list = {
    object: 'list',
    data: input.map((_, index) => ({
      object: 'embedding',
      index,
      embedding: Buffer.from(Float32Array.from(numbers(index)).buffer).toString('base64'),
    })),
    model: request.modelId,
    usage: { prompt_tokens: 6, total_tokens: 6, cost: 0.0015 },
  };
  const { event } = finished(request);
  if (event?.$case !== 'finished') throw new Error('the stub ends with another message');
  const responseJson = Buffer.from(JSON.stringify(list));
  yield { event: { $case: 'finished', value: { ...event.value, responseJson } } };
}

interface List {
  readonly data: readonly { readonly index: number; readonly embedding: unknown }[];
}

it('exists only where it is turned on, and is unknown otherwise like any path', async () => {
  const off = await startEdge({ models });
  const response = await off.post(PATH, BODY);
  expect([response.status, await response.json()]).toEqual([
    404,
    {
      error: {
        message:
          'This path does not exist. Embeddings are not supported. GET /v1/models lists the available chat models.',
        type: 'not_found_error',
        code: 'route_not_found',
        metadata: {},
      },
    },
  ]);
  const listed = (await (await off.get('/v1/models')).json()) as { data: { id: string }[] };
  expect(listed.data.map(({ id }) => id)).toEqual(['acme/m-1']);
  await off.stop();
});

it('is held and sent like a chat completion without output', async () => {
  const response = await edge.post(PATH, { ...BODY, user: 'u-1' });
  expect(response.status).toBe(200);
  expect(response.headers.get('x-generation-id')).toMatch(/^gen-/);
  expect(edge.router.requests).toMatchObject([
    {
      modelId: 'acme/embed',
      embeddings: true,
      stream: false,
      n: 1,
      maxOutputTokens: 0,
      apiType: 'embeddings',
    },
  ]);
  expect(JSON.parse(String(edge.router.requests[0]?.bodyJson))).toEqual({
    input: BODY.input,
    dimensions: LENGTH,
  });
  // "Hello\nBye" is 3 tokens here, and each input has 2 marks: 7, and 8 with the margin, at the highest price of $5.
  expect(edge.ledger.amounts).toEqual([8n * 5_000n]);
  await until(() => edge.ledger.held.size === 0);
});

it('sends no chat completion as one', async () => {
  await edge.chat();
  expect(edge.router.requests[0]).toMatchObject({ embeddings: undefined, apiType: 'completions' });
});

it('returns numbers by default, and base64 where it is requested', async () => {
  const input = Array.from({ length: 100 }, (_, index) => `text ${index}`);
  const ask = async (more: object) =>
    (await (await edge.post(PATH, { ...BODY, input, ...more })).json()) as List;
  const [list, base64] = [await ask({}), await ask({ encoding_format: 'base64' })];
  expect(list.data[99]).toEqual({ object: 'embedding', index: 99, embedding: numbers(99) });
  expect(base64.data[99]?.embedding).toBe(
    Buffer.from(Float32Array.from(numbers(99)).buffer).toString('base64'),
  );
  expect({ ...list, data: [] }).toEqual({ ...base64, data: [] });
});

it('keeps models of chat and of embeddings apart, and costs nothing', async () => {
  const chat = await edge.chat({ model: 'acme/embed', messages: [{ role: 'user', content: 'Hi' }] });
  const embedding = await edge.post(PATH, { ...BODY, model: 'acme/m-1' });
  for (const response of [chat, embedding]) {
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ error: { code: 'model_not_found', param: 'model' } });
  }
  expect(edge.ledger.holdCalls).toBe(0);
});

it('is refused where its input costs more than x-max-cost-usd', async () => {
  const response = await edge.post(PATH, BODY, { 'x-max-cost-usd': '0.000001' });
  expect(response.status).toBe(402);
  expect(await response.json()).toMatchObject({
    error: { code: 'insufficient_credits', message: expect.stringMatching(/^The input can cost/) as string },
  });
});

it('gives back what a request took that failed', async () => {
  edge.router.script = async function* () {
    throw new GatewayError('invalid_request', { param: 'input[1]', message: 'no' });
  };
  const response = await edge.post(PATH, BODY);
  expect(await response.json()).toMatchObject({ error: { code: 'invalid_request', param: 'input[1]' } });
  await until(() => edge.ledger.held.size === 0);
});

it('cancels the generation when the client disconnects', async () => {
  edge.router.script = async function* (request, signal) {
    await aborted(signal);
    yield finished(request);
  };
  const cancel = new AbortController();
  const running = edge.post(PATH, BODY, {}, cancel.signal).catch(() => undefined);
  await until(() => edge.router.requests.length === 1);
  cancel.abort();
  await running;
  await until(() => edge.router.cancelled === 1);
});
