import { GatewayError } from '@gateway/errors';
import { model, startEdge, type TestEdge } from '../../testing/start-edge';

const pdf = (text: string) => `data:application/pdf;base64,${Buffer.from(text).toString('base64')}`;
const chat = (text: string, id = 'acme/reader') => ({
  model: id,
  max_tokens: 10,
  messages: [{ role: 'user', content: [{ type: 'file', file: { file_data: pdf(text) } }] }],
});
const ONE_PAGE = '%PDF-1.7 /Type/Page';
const RESERVING = /^(ledger|limiter)\./;
const DATA = 'messages[0].content[0].file.file_data';

let edge: TestEdge;
beforeEach(async () => {
  const models = [model(), model({ id: 'acme/reader', capabilities: ['files'] })];
  edge = await startEdge({ models, settings: { endpoints: ['chat', 'messages'] } });
});
afterEach(() => edge.stop());

/** The calls that reserve something, in order. */
const reserving = () => edge.faults.reached.filter((step) => RESERVING.test(step));

async function errorOf(response: Response): Promise<{ code: string; param: string | null }> {
  return ((await response.json()) as { error: { code: string; param: string | null } }).error;
}

it('a request with a document runs, and its page is part of the estimate', async () => {
  expect((await edge.chat(chat(ONE_PAGE))).status).toBe(200);
  const [request] = edge.router.requests;
  expect(request?.inputParts).toMatchObject({ images: 1, estimatedImageTokens: 1_500 });
  expect(reserving()).not.toEqual([]);
});

it('a document that is no PDF is refused, and nothing is held', async () => {
  const response = await edge.chat(chat('Hello'));
  expect(response.status).toBe(400);
  expect(await errorOf(response)).toMatchObject({ code: 'invalid_request', param: DATA });
  expect(edge.faults.reached).toContain('pages.count');
  expect(reserving()).toEqual([]);
});

it('a document is refused by a model without the capability, and not counted', async () => {
  const response = await edge.chat(chat(ONE_PAGE, 'acme/m-1'));
  expect(await errorOf(response)).toMatchObject({ code: 'invalid_request' });
  expect(edge.faults.reached).not.toContain('pages.count');
});

it('a full queue is no_capacity, and nothing is held', async () => {
  const full = new GatewayError('no_capacity', { internalMessage: 'full' });
  edge.faults.at('pages.count', () => Promise.reject(full));
  const response = await edge.chat(chat(ONE_PAGE));
  expect(response.status).toBe(503);
  expect(await errorOf(response)).toMatchObject({ code: 'no_capacity' });
  expect(reserving()).toEqual([]);
});

it('count_tokens counts the pages', async () => {
  const source = (text: string) => ({
    type: 'base64',
    media_type: 'application/pdf',
    data: Buffer.from(text).toString('base64'),
  });
  const body = (text: string) => ({
    model: 'acme/reader',
    messages: [{ role: 'user', content: [{ type: 'document', source: source(text) }] }],
  });
  const counted = await edge.post('/v1/messages/count_tokens', body(ONE_PAGE));
  const { input_tokens: tokens } = (await counted.json()) as { input_tokens: number };
  expect(tokens).toBeGreaterThan(1_500);
  expect((await edge.post('/v1/messages/count_tokens', body('Hello'))).status).toBe(400);
});
