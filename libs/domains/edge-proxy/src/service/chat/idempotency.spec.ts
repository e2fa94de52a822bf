import { GatewayError } from '@gateway/errors';
import { LimitScope, LimitType } from '@gateway/contracts/rate-limit';
import { BODY, grant, KEY, startEdge, type TestEdge, until } from '../../testing/start-edge';
import { RESPONSE_KEY } from '../../testing/stub-ledger';
import { finished, frames, hello } from '../../testing/stub-router';

let edge: TestEdge;
beforeEach(async () => {
  edge = await startEdge();
});
afterEach(() => edge.stop());

const SAME_KEY = { 'idempotency-key': 'order 66' };
const codeOf = async (response: Response) =>
  ((await response.json()) as { error: { code: string } }).error.code;

it('replays the first response to a repeated request, which runs and is billed once', async () => {
  const first = await edge.chat(BODY, SAME_KEY);
  const body = await first.text();
  // The order of the body's fields does not matter.
  const second = await edge.chat(Object.fromEntries(Object.entries(BODY).reverse()), SAME_KEY);
  expect(second.status).toBe(200);
  expect(await second.text()).toBe(body);
  expect(first.headers.get('idempotent-replayed')).toBeNull();
  expect(second.headers.get('idempotent-replayed')).toBe('true');
  expect(second.headers.get('x-generation-id')).toBe(first.headers.get('x-generation-id'));
  expect(edge.router.requests).toHaveLength(1);
  expect(edge.router.requests).toMatchObject([
    { idempotencyScope: expect.stringMatching(/^[0-9a-f]{64}$/) as string, responseKey: RESPONSE_KEY },
  ]);
});

it('replays without balance or a free slot', async () => {
  await (await edge.chat(BODY, SAME_KEY)).text();
  const scope = LimitScope.LIMIT_SCOPE_KEY;
  edge.limiter.refuse = { limitType: LimitType.LIMIT_TYPE_REQUESTS, scope, limit: 1, retryAfterMs: 1 };
  expect((await edge.chat(BODY, SAME_KEY)).status).toBe(200);
});

it('replays a stream as a stream with the same id and content', async () => {
  const stream = { ...BODY, stream: true, stream_options: { include_usage: true } };
  const first = await edge.chat(stream, SAME_KEY);
  await first.text();
  const replayed = await edge.chat(stream, SAME_KEY);
  const events = (await replayed.text()).split('\n\n').filter(Boolean);
  const id = first.headers.get('x-generation-id');
  expect(replayed.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
  expect(replayed.headers.get('idempotent-replayed')).toBe('true');
  expect(events.pop()).toBe('data: [DONE]');
  const chunks = events.map((event) => JSON.parse(event.slice('data: '.length)) as Record<string, unknown>);
  expect(chunks.every((chunk) => chunk['id'] === id && chunk['object'] === 'chat.completion.chunk')).toBe(
    true,
  );
  expect(chunks.map((chunk) => [chunk['choices'], chunk['usage']])).toEqual([
    [[{ index: 0, delta: { role: 'assistant', content: '' }, logprobs: null, finish_reason: null }], null],
    [[{ index: 0, delta: { content: 'Hello' }, logprobs: null, finish_reason: null }], null],
    [[{ index: 0, delta: {}, logprobs: null, finish_reason: 'stop' }], null],
    [[], { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18, cost: 0.0015 }],
  ]);
});

it('refuses the same key with another body', async () => {
  await (await edge.chat(BODY, SAME_KEY)).text();
  const response = await edge.chat({ ...BODY, max_tokens: 99 }, SAME_KEY);
  expect(response.status).toBe(422);
  expect(await codeOf(response)).toBe('idempotency_key_reused');
});

it('returns 409 while the first request is running, and a replay afterwards', async () => {
  let release = () => {};
  const pause = new Promise<void>((resolve) => (release = resolve));
  edge.router.script = async function* (request) {
    await pause;
    yield finished(request);
  };
  const first = edge.chat(BODY, SAME_KEY);
  await until(() => edge.router.requests.length === 1);
  const second = await edge.chat(BODY, SAME_KEY);
  expect(second.status).toBe(409);
  expect(second.headers.get('retry-after')).toBe('2');
  expect(await codeOf(second)).toBe('idempotency_key_in_flight');
  release();
  await (await first).text();
  expect((await edge.chat(BODY, SAME_KEY)).headers.get('idempotent-replayed')).toBe('true');
});

it('renews the claim of a running request for a full lease each time, until the request ends', async () => {
  const claimLeaseMs = 300;
  const short = await startEdge({ settings: { claimLeaseMs } });
  try {
    let release = () => {};
    const pause = new Promise<void>((resolve) => (release = resolve));
    short.router.script = async function* (request) {
      await pause;
      yield finished(request);
    };
    const running = short.chat(BODY, SAME_KEY);
    await until(() => short.ledger.renewals.length >= 2);
    release();
    const response = await running;
    await response.text();
    const generationId = response.headers.get('x-generation-id');
    const [scope] = short.ledger.claims.keys();
    expect(short.ledger.claimLeasesMs).toEqual([claimLeaseMs]);
    for (const renewal of short.ledger.renewals) {
      expect(renewal).toEqual({ claims: [{ scope, generationId }], leaseMs: claimLeaseMs });
    }

    // Renewals of another request show that the first claim would have been due.
    const renewed = short.ledger.renewals.length;
    let releaseOther = () => {};
    const otherPause = new Promise<void>((resolve) => (releaseOther = resolve));
    short.router.script = async function* (request) {
      await otherPause;
      yield finished(request);
    };
    const other = short.chat(BODY, { 'idempotency-key': 'order 67' });
    await until(() => short.ledger.renewals.length >= renewed + 2);
    releaseOther();
    await (await other).text();
    const later = short.ledger.renewals.slice(renewed).flatMap(({ claims }) => claims);
    expect(later.map((claim) => claim.generationId)).not.toContain(generationId);
  } finally {
    await short.stop();
  }
});

it('separates keys by API key and exact value', async () => {
  edge.keys.set('sk-gw-other', grant({ keyId: 'key_2' }));
  await (await edge.chat(BODY, SAME_KEY)).text();
  await (await edge.chat(BODY, { 'idempotency-key': '"order 66"' })).text();
  await (await edge.chat(BODY, { ...SAME_KEY, authorization: 'Bearer sk-gw-other' })).text();
  await (await edge.chat(BODY)).text();
  expect(edge.router.requests).toHaveLength(4);
  expect(edge.ledger.claims.size).toBe(3);
});

it.each([
  ['a refusal', () => void (edge.ledger.refuse = { $case: 'insufficientCredits', value: NOTHING })],
  ['a timeout', () => edge.faults.at('router.generate', () => fail(new GatewayError('request_timeout')))],
  [
    'a lack of capacity',
    () => edge.faults.at('router.generate', () => fail(new GatewayError('no_capacity'))),
  ],
  ['a failure', () => edge.faults.at('router.generate', () => fail(new Error('a bug')))],
])('%s is not stored: the same key runs again', async (_name, happen) => {
  happen();
  const first = await edge.chat(BODY, SAME_KEY);
  expect(first.status).toBeGreaterThanOrEqual(400);
  await first.text();
  edge.ledger.refuse = undefined;
  const second = await edge.chat(BODY, SAME_KEY);
  expect(second.status).toBe(200);
  expect(second.headers.get('idempotent-replayed')).toBeNull();
});

it('releases the key of a failed stream', async () => {
  edge.router.script = async function* (request) {
    yield frames(request, 'Hel', 3);
    throw new GatewayError('upstream_error');
  };
  expect(await (await edge.chat({ ...BODY, stream: true }, SAME_KEY)).text()).toContain('upstream_error');
  edge.router.script = hello;
  const second = await edge.chat({ ...BODY, stream: true }, SAME_KEY);
  expect(second.headers.get('idempotent-replayed')).toBeNull();
  expect(await second.text()).not.toContain('error');
});

it.each([false, true])('stores the response for a client that disconnected (stream: %s)', async (stream) => {
  let release = () => {};
  const pause = new Promise<void>((resolve) => (release = resolve));
  edge.router.script = async function* (request) {
    if (request.stream) yield frames(request, 'Hel', 3);
    await pause;
    yield finished(request);
  };
  const client = new AbortController();
  const first = edge.chat({ ...BODY, stream }, SAME_KEY, client.signal);
  await until(() => edge.router.requests.length === 1 && edge.ledger.held.size === 1);
  if (stream) await first;
  client.abort();
  await first.then((response) => response.text()).catch(() => undefined);
  await until(() => edge.logLines.some((line) => line.includes('"status":499')));
  release();
  await until(() => edge.limiter.outstanding.size === 0);
  expect(edge.router.cancelled).toBe(0);
  const second = await edge.chat({ ...BODY, stream }, SAME_KEY);
  expect(second.headers.get('idempotent-replayed')).toBe('true');
  await second.text();
  expect(edge.limiter.usedTokens).toEqual([18]);
});

it('reports a finished request to the ledger, so that its key stays claimed until the settlement', async () => {
  await (await edge.chat(BODY, SAME_KEY)).text();
  expect(edge.ledger.completedClaims).toEqual([expect.stringMatching(/^[0-9a-f]{64}$/)]);
});

it.each(['', 'x'.repeat(256), 'ü', '\t'])('refuses the key %j', async (key) => {
  const response = await edge.chat(BODY, { 'idempotency-key': key });
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({
    error: { code: 'invalid_request', param: 'Idempotency-Key' },
  });
});

it('accepts the longest key, and ignores the header on read endpoints', async () => {
  expect((await edge.chat(BODY, { 'idempotency-key': '~'.repeat(255) })).status).toBe(200);
  const response = await edge.get('/v1/models', { authorization: `Bearer ${KEY}`, 'idempotency-key': '' });
  expect(response.status).toBe(200);
});

const NOTHING = { availableNanoUsd: 0n, heldNanoUsd: 0n, estimatedCostNanoUsd: 1n };

function fail(error: Error): never {
  throw error;
}
