import { deflateSync } from 'node:zlib';
import { GatewayError } from '@gateway/errors';
import { BODY, startEdge, type TestEdge, until } from '../../testing/start-edge';
import { aborted, finished, frames } from '../../testing/stub-router';

let edge: TestEdge;
beforeEach(async () => {
  edge = await startEdge();
});
afterEach(() => edge.stop());

const STREAM = { ...BODY, stream: true };
const after = (event: number | string, headers: Record<string, string> = {}) => ({
  'idempotency-key': 'order 66',
  'last-event-id': String(event),
  ...headers,
});

/** The id and the text of each event. */
const eventsOf = (text: string) =>
  text
    .split('\n\n')
    .filter(Boolean)
    .map((event) => [/^id: (\d+)$/m.exec(event)?.[1], /"content":"(.*?)"/.exec(event)?.[1] ?? event]);

const errorOf = async (response: Response) =>
  ((await response.json()) as { error: { code: string; param: string | null } }).error;

/** A generation that sends "Hel", and the rest once it may. */
async function startRunning(headers = after(0)) {
  let proceed = () => {};
  const mayProceed = new Promise<void>((resolve) => (proceed = resolve));
  edge.router.script = async function* (request) {
    yield frames(request, 'Hel', 3);
    await mayProceed;
    yield frames(request, 'lo', 7);
    yield finished(request);
  };
  const response = await edge.chat(STREAM, headers);
  return { response, proceed, id: response.headers.get('x-generation-id') ?? '' };
}

it('Last-Event-ID: 0 numbers the events of a stream, which the router then keeps', async () => {
  const response = await edge.chat(STREAM, after(0));
  expect(eventsOf(await response.text())).toEqual([
    ['1', 'Hel'],
    ['2', 'lo'],
    [undefined, 'data: [DONE]'],
  ]);
  expect(edge.router.requests).toMatchObject([{ resumable: true }]);
});

it('a stream without the header has no ids, and is not kept', async () => {
  const response = await edge.chat(STREAM, { 'idempotency-key': 'order 66' });
  expect(await response.text()).not.toContain('id:');
  expect(edge.router.requests).toMatchObject([{ resumable: false }]);
});

it.each([
  ['without an Idempotency-Key', STREAM, { 'last-event-id': '0' }],
  ['of a request that does not stream', BODY, after(0)],
  ['that is no number', STREAM, after('abc')],
  ['that is negative', STREAM, after(-1)],
  ['that is too large', STREAM, after(1_000_000_000)],
  ['that is empty', STREAM, after('')],
])('a Last-Event-ID %s is an invalid request', async (_name, body, headers) => {
  const response = await edge.chat(body, headers);
  expect(response.status).toBe(400);
  expect(await errorOf(response)).toMatchObject({ code: 'invalid_request', param: 'Last-Event-ID' });
  expect(edge.ledger.claims.size).toBe(0);
  expect(edge.router.requests).toHaveLength(0);
});

it('continues a running stream after the last event, and neither admits nor holds again', async () => {
  const { response: first, proceed, id } = await startRunning();
  const seen: object[] = [];
  edge.router.follow = async function* (request) {
    seen.push(request);
    yield frames({ generationId: request.generationId } as never, 'lo', 7);
    yield finished({ stream: true } as never);
  };
  const joined = await edge.chat(STREAM, after(1));
  expect(joined.status).toBe(200);
  expect(joined.headers.get('idempotent-replayed')).toBe('true');
  expect(joined.headers.get('x-generation-id')).toBe(id);
  expect(eventsOf(await joined.text())).toEqual([
    ['2', 'lo'],
    [undefined, 'data: [DONE]'],
  ]);
  expect(seen).toEqual([{ generationId: id, organizationId: 'org_1', afterEvent: 1 }]);
  expect(edge.ledger.amounts).toHaveLength(1);
  proceed();
  await first.text();
});

it('a stream that already sent its last event ends at once', async () => {
  const { response: first, proceed } = await startRunning();
  edge.router.follow = async function* () {
    yield finished({ stream: true } as never);
  };
  expect(await (await edge.chat(STREAM, after(2))).text()).toBe('data: [DONE]\n\n');
  proceed();
  await first.text();
});

it.each([
  ['does not run at any router', async function* () {}],
  [
    'cannot be reached',
    async function* () {
      throw new GatewayError('no_capacity');
    },
  ],
])('is in flight while its stream %s', async (_name, follow) => {
  const { response: first, proceed } = await startRunning();
  edge.router.follow = follow as typeof edge.router.follow;
  const second = await edge.chat(STREAM, after(1));
  expect(second.status).toBe(409);
  expect(second.headers.get('retry-after')).toBe('2');
  expect(second.headers.get('x-generation-id')).toBeNull();
  expect(await errorOf(second)).toMatchObject({ code: 'idempotency_key_in_flight' });
  proceed();
  await first.text();
});

it('a failure of the generation ends a continued stream with its error chunk', async () => {
  const { response: first, proceed } = await startRunning();
  edge.router.follow = async function* (request) {
    yield frames({ generationId: request.generationId } as never, 'lo', 7);
    throw new GatewayError('upstream_error');
  };
  const events = eventsOf(await (await edge.chat(STREAM, after(1))).text());
  expect(events[0]).toEqual(['2', 'lo']);
  expect(events[1]?.[0]).toBeUndefined();
  expect(events.at(-1)).toEqual([undefined, 'data: [DONE]']);
  proceed();
  await first.text();
});

it('a client that disconnects again cancels only its own reading', async () => {
  const { response: first, proceed } = await startRunning();
  let isCancelled = false;
  edge.router.follow = async function* (request, signal) {
    yield frames({ generationId: request.generationId } as never, 'lo', 7);
    await aborted(signal);
    isCancelled = true;
  };
  const client = new AbortController();
  const joined = await edge.chat(STREAM, after(1), client.signal);
  await joined.body?.getReader().read();
  client.abort();
  await until(() => isCancelled);
  proceed();
  expect(await first.text()).toContain('[DONE]');
  expect(edge.router.cancelled).toBe(0);
});

describe('a completed stream', () => {
  const EVENTS = ['Hel', 'lo'].map((content) => `data: {"choices":[{"delta":{"content":"${content}"}}]}\n\n`);

  async function complete(responseEvents?: Buffer): Promise<void> {
    await (await edge.chat(STREAM, after(0))).text();
    for (const claim of edge.ledger.claims.values())
      if (responseEvents) claim.responseEvents = responseEvents;
  }

  it.each([
    [
      0,
      [
        ['1', 'Hel'],
        ['2', 'lo'],
      ],
    ],
    [1, [['2', 'lo']]],
    [2, []],
    [7, []],
  ])('is replayed after event %s', async (event, expected) => {
    await complete(deflateSync(EVENTS.join('')));
    const replayed = await edge.chat(STREAM, after(event));
    expect(replayed.headers.get('idempotent-replayed')).toBe('true');
    expect(eventsOf(await replayed.text())).toEqual([...expected, [undefined, 'data: [DONE]']]);
  });

  it('is replayed whole and without ids when its events were not stored, and cannot be continued', async () => {
    await complete();
    const replayed = await (await edge.chat(STREAM, after(0))).text();
    expect(replayed).toContain('Hello');
    expect(replayed).not.toContain('id:');
    const refused = await edge.chat(STREAM, after(1));
    expect(refused.status).toBe(400);
    expect(await errorOf(refused)).toMatchObject({ code: 'invalid_request', param: 'Last-Event-ID' });
  });
});

it('a stream that ended without a response is not continued by another generation, and its key stays free', async () => {
  edge.router.script = async function* (request) {
    yield frames(request, 'Hel', 3);
    throw new GatewayError('upstream_error');
  };
  await (await edge.chat(STREAM, after(0))).text();
  const calls = edge.router.requests.length;
  const refused = await edge.chat(STREAM, after(1));
  expect(refused.status).toBe(400);
  expect(await errorOf(refused)).toMatchObject({ code: 'invalid_request', param: 'Last-Event-ID' });
  expect(edge.router.requests).toHaveLength(calls);
  await until(() => edge.ledger.claims.size === 0);
  expect(edge.ledger.held.size).toBe(0);
});
