import { endpoints, inferenceApis } from '@gateway/public-api';
import { eventually } from '@gateway/test-support';
import { model, startEdge, type TestEdge } from '../../testing/start-edge';

const data = Buffer.from('%PDF-1.7 /Type/Page').toString('base64');
const uri = `data:application/pdf;base64,${data}`;
const pdf = { type: 'base64', media_type: 'application/pdf', data };
const user = (content: object) => [{ role: 'user', content: [content] }];
const messages = user({ type: 'document', source: pdf });

/** Every endpoint that counts tokens, with a document where it reads documents. */
const bodies: Readonly<Record<string, object>> = {
  '/v1/chat/completions': { messages: user({ type: 'file', file: { file_data: uri } }) },
  '/v1/messages': { max_tokens: 10, messages },
  '/v1/messages/count_tokens': { messages },
  '/v1/responses': { input: user({ type: 'input_file', filename: 'a.pdf', file_data: uri }) },
  '/v1/embeddings': { input: ['Hello'] },
};

let edge: TestEdge;
beforeEach(async () => {
  const models = [
    model({ id: 'acme/reader', capabilities: ['files'] }),
    model({ id: 'acme/embed', maxOutputTokens: 0, capabilities: [], embeddingDimensions: [4] }),
  ];
  edge = await startEdge({ models, settings: { endpoints: inferenceApis } });
});
afterEach(() => edge.stop());

it('every endpoint with a body is tested', () => {
  const paths = endpoints.filter(({ method }) => method === 'POST').map(({ path }) => path);
  expect(Object.keys(bodies).sort()).toEqual(paths.sort());
});

describe.each(Object.entries(bodies))('a client of %s that disconnects', (path, body) => {
  const steps = path === '/v1/embeddings' ? ['tokens.count'] : ['pages.count', 'tokens.count'];

  it.each(steps)('cancels its count: %s', async (step) => {
    const client = new AbortController();
    edge.faults.at(step, () => new Promise(() => client.abort()));
    const id = path === '/v1/embeddings' ? 'acme/embed' : 'acme/reader';
    const sent = edge.post(path, { model: id, ...body }, {}, client.signal);
    await expect(sent).rejects.toThrow('aborted');
    await eventually('the cancellation', async () => edge.countedFor.at(-1)?.signal?.aborted || undefined);
  });
});
