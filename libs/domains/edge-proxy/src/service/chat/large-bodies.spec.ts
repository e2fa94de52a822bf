import { limits } from '../../core';
import { BODY, KEY, model, startEdge, type TestEdge, until } from '../../testing/start-edge';

const { maxInlineBytes, maxInlineValues, chunkBytes } = limits.bodies;

const largeModel = model({ contextLength: 10_000_000 });

let edge: TestEdge;
beforeEach(async () => {
  edge = await startEdge({ models: [largeModel] });
});
afterEach(() => edge.stop());

function bodyOf(bytes: number): object {
  return { ...BODY, messages: [{ role: 'user', content: 'x'.repeat(bytes) }] };
}

function checkedInThread(): boolean {
  return edge.faults.reached.includes('bodies.check');
}

async function outcome(response: Response): Promise<[number, string]> {
  const body = (await response.json()) as { error?: { code: string } };
  return [response.status, body.error?.code ?? 'ok'];
}

it('validates a small body on the event loop', async () => {
  expect((await edge.chat(bodyOf(maxInlineBytes - 1_000))).status).toBe(200);
  expect(checkedInThread()).toBe(false);
});

it.each([
  ['bytes', bodyOf(maxInlineBytes)],
  [
    'values',
    { ...BODY, messages: Array(Math.ceil(maxInlineValues / 3)).fill({ role: 'user', content: 'x' }) },
  ],
])('validates a body with more %s in a thread, with the same result', async (_name, body) => {
  expect((await edge.chat(body)).status).toBe(200);
  expect(checkedInThread()).toBe(true);
  expect(await outcome(await edge.chat({ ...body, n: 2 }))).toEqual([400, 'n_not_allowed']);
});

it('serves other requests while a large body is validated', async () => {
  let finish: () => void = () => undefined;
  edge.faults.at('bodies.check', () => new Promise<void>((resolve) => (finish = resolve)));
  const large = edge.chat(bodyOf(maxInlineBytes));
  await until(() => checkedInThread());
  expect((await edge.chat(BODY)).status).toBe(200);
  finish();
  expect((await large).status).toBe(200);
});

it('sends a body of several megabytes to the router unchanged', async () => {
  const body = bodyOf(3 * chunkBytes);
  expect((await edge.chat(body)).status).toBe(200);
  const sent = edge.router.requests.map(({ bodyJson }) => JSON.parse(bodyJson.toString()) as unknown);
  expect(sent).toEqual([{ messages: (body as typeof BODY).messages }]);
});

it('compares large bodies of an Idempotency-Key by their canonical JSON', async () => {
  const headers = { 'idempotency-key': 'one' };
  const body = bodyOf(maxInlineBytes);
  const reordered = Object.fromEntries(Object.entries(body).reverse());
  const first = (await (await edge.chat(body, headers)).json()) as { id: string };
  const again = await edge.chat(reordered, headers);
  expect(again.headers.get('idempotent-replayed')).toBe('true');
  expect(((await again.json()) as { id: string }).id).toBe(first.id);
  expect(await outcome(await edge.chat(bodyOf(maxInlineBytes + 1), headers))).toEqual([
    422,
    'idempotency_key_reused',
  ]);
});

it('reports errors of the body before those of its Idempotency-Key', async () => {
  const headers = { 'idempotency-key': 'no good \u00e9' };
  const body = bodyOf(maxInlineBytes);
  expect(await outcome(await edge.chat({ ...body, n: 0 }, headers))).toEqual([400, 'invalid_request']);
  expect(await outcome(await edge.chat(body, headers))).toEqual([400, 'invalid_request']);
});

it('leaves nothing reserved and frees the body bytes when the thread fails', async () => {
  await edge.stop();
  edge = await startEdge({ models: [largeModel], settings: { maxInflightBodyBytes: maxInlineBytes * 1.5 } });
  for (let round = 0; round < 3; round += 1) {
    edge.faults.at('bodies.check', () => Promise.reject(new Error('the thread has terminated')));
    expect(await outcome(await edge.chat(bodyOf(maxInlineBytes)))).toEqual([500, 'internal_error']);
  }
  expect((await edge.chat(bodyOf(maxInlineBytes))).status).toBe(200);
  expect(edge.limiter.outstanding.size + edge.ledger.held.size).toBe(0);
});

it('cancels the validation when the client disconnects', async () => {
  edge.faults.at('bodies.check', () => new Promise(() => {}));
  const cancel = new AbortController();
  const response = edge.chat(bodyOf(maxInlineBytes), {}, cancel.signal);
  await until(() => checkedInThread());
  cancel.abort();
  await expect(response).rejects.toThrow();
  await until(() => edge.logLines.some((line) => line.includes('"status":499')));
  expect(edge.limiter.outstanding.size + edge.ledger.held.size).toBe(0);
  expect((await fetch(`${edge.url}/v1/models`, { headers: { authorization: `Bearer ${KEY}` } })).status).toBe(
    200,
  );
});
