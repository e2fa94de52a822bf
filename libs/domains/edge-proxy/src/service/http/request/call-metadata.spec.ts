import { BODY, startEdge, type TestEdge } from '../../../testing/start-edge';

const TRACEPARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

let edge: TestEdge;
beforeEach(async () => {
  edge = await startEdge();
});
afterEach(() => edge.stop());

async function metadataFor(headers: Record<string, string>): Promise<object> {
  const response = await edge.chat(BODY, headers);
  expect(response.status).toBe(200);
  await response.text();
  const { 'x-request-id': requestId, ...others } = edge.router.metadata.at(-1) ?? {};
  expect(requestId).toBe(response.headers.get('x-request-id'));
  return others;
}

it("propagates the client's trace to the router", async () => {
  expect(await metadataFor({ traceparent: TRACEPARENT })).toEqual({ traceparent: TRACEPARENT });
  const tracestate = 'vendor=1,other=2';
  expect(await metadataFor({ traceparent: TRACEPARENT, tracestate })).toEqual({
    traceparent: TRACEPARENT,
    tracestate,
  });
});

it('starts no trace, and drops an invalid one without an error', async () => {
  expect(await metadataFor({})).toEqual({});
  expect(await metadataFor({ tracestate: 'vendor=1' })).toEqual({});
  expect(await metadataFor({ traceparent: 'not a trace', tracestate: 'vendor=1' })).toEqual({});
  expect(await metadataFor({ traceparent: TRACEPARENT, tracestate: 'not a state' })).toEqual({
    traceparent: TRACEPARENT,
  });
});

it('propagates the trace with reads as well', async () => {
  const received: object[] = [];
  edge.query.handlers = {
    getGeneration: async (_request, { metadata }) => {
      received.push(metadata);
      return { generation: undefined };
    },
    getUsage: async (_request, { metadata }) => {
      received.push(metadata);
      return { totals: undefined, rows: [] };
    },
  };
  const headers = { authorization: 'Bearer sk-gw-test-key', traceparent: TRACEPARENT };
  await edge.get('/v1/generation?id=gen-1', headers);
  await edge.get('/v1/usage', headers);
  expect(received).toEqual([
    { 'x-request-id': expect.any(String), traceparent: TRACEPARENT },
    { 'x-request-id': expect.any(String), traceparent: TRACEPARENT },
  ]);
});
