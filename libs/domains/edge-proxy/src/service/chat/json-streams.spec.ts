import { grant, KEY, startEdge, type TestEdge } from '../../testing/start-edge';

const SCHEMA = { type: 'object', properties: {} };
const FORMAT = { type: 'json_schema', name: 'a', schema: SCHEMA };
const MESSAGES = [{ role: 'user', content: 'Hi' }];
const model = 'acme/m-1';

/** A JSON response format in each public format. */
const cases = [
  [
    '/v1/chat/completions',
    { model, messages: MESSAGES, response_format: { type: 'json_object' } },
    'response_format',
  ],
  [
    '/v1/chat/completions',
    { model, messages: MESSAGES, response_format: { type: 'json_schema', json_schema: FORMAT } },
    'response_format',
  ],
  ['/v1/responses', { model, input: MESSAGES, text: { format: FORMAT } }, 'text.format'],
  [
    '/v1/messages',
    {
      model,
      max_tokens: 10,
      messages: MESSAGES,
      output_config: { format: { type: 'json_schema', schema: SCHEMA } },
    },
    'output_config.format',
  ],
] as const;

describe.each(cases)('%s with %j', (path, body, param) => {
  let edge: TestEdge;
  beforeEach(async () => {
    edge = await startEdge({ settings: { endpoints: ['chat', 'messages', 'responses'] } });
  });
  afterEach(() => edge.stop());
  const send = (stream: boolean) => edge.post(path, { ...body, stream });

  it('is refused with stream unless the key allows it, and costs nothing', async () => {
    const response = await send(true);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { code: 'json_mode_no_stream', param } });
    expect(edge.router.requests).toHaveLength(0);
    expect(edge.ledger.amounts).toHaveLength(0);
  });

  it('is streamed with a key that allows it, held as every stream, and the router knows that it is JSON', async () => {
    edge.keys.set(KEY, grant({ jsonStreaming: true }));
    const response = await send(true);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    await response.text();
    expect(edge.router.requests).toMatchObject([{ stream: true, jsonResponse: true }]);
    expect(edge.ledger.amounts).toHaveLength(1);
  });

  it('is whole without stream, with every key', async () => {
    for (const jsonStreaming of [false, true]) {
      edge.keys.set(KEY, grant({ jsonStreaming }));
      expect((await send(false)).headers.get('content-type')).toContain('application/json');
    }
    expect(edge.router.requests.map(({ stream }) => stream)).toEqual([false, false]);
  });
});
