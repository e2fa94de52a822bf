import { limits } from '../../core';
import { BODY, KEY, model, startEdge, type TestEdge, until } from '../../testing/start-edge';

const { maxInlineBytes, maxInlineValues, pieceBytes } = limits.bodies;

const roomy = model({ contextLength: 10_000_000 });

let edge: TestEdge;
beforeEach(async () => {
  edge = await startEdge({ models: [roomy] });
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

it('a small body is checked where it is', async () => {
  expect((await edge.chat(bodyOf(maxInlineBytes - 1_000))).status).toBe(200);
  expect(checkedInThread()).toBe(false);
});

it.each([
  ['bytes', bodyOf(maxInlineBytes)],
  [
    'values',
    { ...BODY, messages: Array(Math.ceil(maxInlineValues / 3)).fill({ role: 'user', content: 'x' }) },
  ],
])('one with more %s is checked in a thread, and answered the same', async (_name, body) => {
  expect((await edge.chat(body)).status).toBe(200);
  expect(checkedInThread()).toBe(true);
  expect(await outcome(await edge.chat({ ...body, n: 2 }))).toEqual([400, 'n_not_allowed']);
});

it('a body of megabytes reaches the router as it is', async () => {
  const body = bodyOf(3 * pieceBytes);
  expect((await edge.chat(body)).status).toBe(200);
  const sent = edge.router.requests.map(({ bodyJson }) => JSON.parse(bodyJson.toString()) as unknown);
  expect(sent).toEqual([{ messages: (body as typeof BODY).messages }]);
});

it('an Idempotency-Key claims a large body by what it means', async () => {
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

it('the faults of a body come before those of its Idempotency-Key', async () => {
  const headers = { 'idempotency-key': 'no good \u00e9' };
  const body = bodyOf(maxInlineBytes);
  expect(await outcome(await edge.chat({ ...body, n: 0 }, headers))).toEqual([400, 'invalid_request']);
  expect(await outcome(await edge.chat(body, headers))).toEqual([400, 'invalid_request']);
});

it('when no thread can take it nothing is left behind, and the body is out of the count of all', async () => {
  await edge.stop();
  edge = await startEdge({ models: [roomy], settings: { maxInflightBodyBytes: maxInlineBytes * 1.5 } });
  for (let round = 0; round < 3; round += 1) {
    edge.faults.at('bodies.check', () => Promise.reject(new Error('the thread is gone')));
    expect(await outcome(await edge.chat(bodyOf(maxInlineBytes)))).toEqual([500, 'internal_error']);
  }
  expect((await edge.chat(bodyOf(maxInlineBytes))).status).toBe(200);
  expect(edge.limiter.outstanding.size + edge.ledger.held.size).toBe(0);
});

it('a caller that cancels takes its body out of the thread', async () => {
  edge.faults.at('bodies.check', () => new Promise(() => {}));
  const cancel = new AbortController();
  const answer = edge.chat(bodyOf(maxInlineBytes), {}, cancel.signal);
  await until(() => checkedInThread());
  cancel.abort();
  await expect(answer).rejects.toThrow();
  await until(() => edge.logLines.some((line) => line.includes('"status":499')));
  expect(edge.limiter.outstanding.size + edge.ledger.held.size).toBe(0);
  expect((await fetch(`${edge.url}/v1/models`, { headers: { authorization: `Bearer ${KEY}` } })).status).toBe(
    200,
  );
});
