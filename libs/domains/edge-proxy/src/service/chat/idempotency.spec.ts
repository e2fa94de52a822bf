import { GatewayError } from '@gateway/errors';
import { LimitScope, LimitType } from '@gateway/contracts/rate-limit';
import { BODY, grant, KEY, startEdge, type TestEdge, until } from '../../testing/start-edge';
import { finished, frames, hello } from '../../testing/stub-router';

let edge: TestEdge;
beforeEach(async () => {
  edge = await startEdge();
});
afterEach(() => edge.stop());

const AGAIN = { 'idempotency-key': 'order 66' };
const codeOf = async (response: Response) =>
  ((await response.json()) as { error: { code: string } }).error.code;

it('the same request again is answered with the first answer, once run and once paid', async () => {
  const first = await edge.chat(BODY, AGAIN);
  const answer = await first.text();
  // Order and white space of the body mean nothing.
  const second = await edge.chat(Object.fromEntries(Object.entries(BODY).reverse()), AGAIN);
  expect(second.status).toBe(200);
  expect(await second.text()).toBe(answer);
  expect(first.headers.get('idempotent-replayed')).toBeNull();
  expect(second.headers.get('idempotent-replayed')).toBe('true');
  expect(second.headers.get('x-generation-id')).toBe(first.headers.get('x-generation-id'));
  expect(edge.router.requests).toHaveLength(1);
  expect(edge.router.requests[0]?.idempotencyScope).toMatch(/^[0-9a-f]{64}$/);
});

it('a replay needs neither balance nor a free slot', async () => {
  await (await edge.chat(BODY, AGAIN)).text();
  const scope = LimitScope.LIMIT_SCOPE_KEY;
  edge.limiter.refuse = { limitType: LimitType.LIMIT_TYPE_REQUESTS, scope, limit: 1, retryAfterMs: 1 };
  expect((await edge.chat(BODY, AGAIN)).status).toBe(200);
});

it('a stream is replayed as a stream of the same id and content', async () => {
  const stream = { ...BODY, stream: true, stream_options: { include_usage: true } };
  const first = await edge.chat(stream, AGAIN);
  await first.text();
  const replayed = await edge.chat(stream, AGAIN);
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

it('another body with the same key is refused, running or not', async () => {
  await (await edge.chat(BODY, AGAIN)).text();
  const response = await edge.chat({ ...BODY, max_tokens: 99 }, AGAIN);
  expect(response.status).toBe(422);
  expect(await codeOf(response)).toBe('idempotency_key_reused');
});

it('the same key while the first is running is a 409, and a replay afterwards', async () => {
  let release = () => {};
  const pause = new Promise<void>((resolve) => (release = resolve));
  edge.router.script = async function* (request) {
    await pause;
    yield finished(request);
  };
  const first = edge.chat(BODY, AGAIN);
  await until(() => edge.router.requests.length === 1);
  const second = await edge.chat(BODY, AGAIN);
  expect(second.status).toBe(409);
  expect(second.headers.get('retry-after')).toBe('2');
  expect(await codeOf(second)).toBe('idempotency_key_in_flight');
  release();
  await (await first).text();
  expect((await edge.chat(BODY, AGAIN)).headers.get('idempotent-replayed')).toBe('true');
});

it('the claim of a running request is renewed for its whole lease until the request ends, and no longer', async () => {
  const claimLeaseMs = 300;
  const short = await startEdge({ settings: { claimLeaseMs } });
  try {
    let release = () => {};
    const pause = new Promise<void>((resolve) => (release = resolve));
    short.router.script = async function* (request) {
      await pause;
      yield finished(request);
    };
    const running = short.chat(BODY, AGAIN);
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

    // Another request's renewals tell that time has passed for the first one's.
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

it('keys of other callers and other values are other requests', async () => {
  edge.keys.set('sk-gw-other', grant({ keyId: 'key_2' }));
  await (await edge.chat(BODY, AGAIN)).text();
  await (await edge.chat(BODY, { 'idempotency-key': '"order 66"' })).text();
  await (await edge.chat(BODY, { ...AGAIN, authorization: 'Bearer sk-gw-other' })).text();
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
  const first = await edge.chat(BODY, AGAIN);
  expect(first.status).toBeGreaterThanOrEqual(400);
  await first.text();
  edge.ledger.refuse = undefined;
  const second = await edge.chat(BODY, AGAIN);
  expect(second.status).toBe(200);
  expect(second.headers.get('idempotent-replayed')).toBeNull();
});

it('a stream that broke off releases its key', async () => {
  edge.router.script = async function* (request) {
    yield frames(request, 'Hel', 3);
    throw new GatewayError('upstream_error');
  };
  expect(await (await edge.chat({ ...BODY, stream: true }, AGAIN)).text()).toContain('upstream_error');
  edge.router.script = hello;
  const second = await edge.chat({ ...BODY, stream: true }, AGAIN);
  expect(second.headers.get('idempotent-replayed')).toBeNull();
  expect(await second.text()).not.toContain('error');
});

it.each([false, true])('a caller who cancels finds the answer later (stream: %s)', async (stream) => {
  let release = () => {};
  const pause = new Promise<void>((resolve) => (release = resolve));
  edge.router.script = async function* (request) {
    if (request.stream) yield frames(request, 'Hel', 3);
    await pause;
    yield finished(request);
  };
  const caller = new AbortController();
  const first = edge.chat({ ...BODY, stream }, AGAIN, caller.signal);
  await until(() => edge.router.requests.length === 1 && edge.ledger.held.size === 1);
  if (stream) await first;
  caller.abort();
  await first.then((response) => response.text()).catch(() => undefined);
  await until(() => edge.logLines.some((line) => line.includes('"status":499')));
  release();
  await until(() => edge.limiter.outstanding.size === 0);
  expect(edge.router.cancelled).toBe(0);
  const second = await edge.chat({ ...BODY, stream }, AGAIN);
  expect(second.headers.get('idempotent-replayed')).toBe('true');
  await second.text();
  expect(edge.limiter.usedTokens).toEqual([18]);
});

it('the ledger is told that a finished request was answered, so that its key waits for the settlement', async () => {
  await (await edge.chat(BODY, AGAIN)).text();
  expect(edge.ledger.answeredClaims).toEqual([expect.stringMatching(/^[0-9a-f]{64}$/)]);
});

it.each(['', 'x'.repeat(256), 'ü', '\t'])('the key %j cannot be used', async (key) => {
  const response = await edge.chat(BODY, { 'idempotency-key': key });
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({
    error: { code: 'invalid_request', param: 'Idempotency-Key' },
  });
});

it('the longest key is fine, and readers ignore the header', async () => {
  expect((await edge.chat(BODY, { 'idempotency-key': '~'.repeat(255) })).status).toBe(200);
  const response = await edge.get('/v1/models', { authorization: `Bearer ${KEY}`, 'idempotency-key': '' });
  expect(response.status).toBe(200);
});

const NOTHING = { availableNanoUsd: 0n, estimatedCostNanoUsd: 1n };

function fail(error: Error): never {
  throw error;
}
