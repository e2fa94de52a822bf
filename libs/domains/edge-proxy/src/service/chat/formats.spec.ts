import { deflateSync } from 'node:zlib';
import type { UnixMs } from '@gateway/base';
import { LimitScope, LimitType } from '@gateway/contracts/rate-limit';
import type { GenerateRequest, GenerateResponse } from '@gateway/contracts/inference-router';
import { GatewayError } from '@gateway/errors';
import type { FormatName } from '@gateway/public-api';
import { grant, KEY, startEdge, type TestEdge, until } from '../../testing/start-edge';
import { aborted, finished, frames } from '../../testing/stub-router';

interface Case {
  readonly name: Exclude<FormatName, 'chat'>;
  readonly path: string;
  readonly body: object;
  /** The text of a whole response. */
  readonly textOf: (response: never) => string;
  /** The type of the events that have text, of the last event, and of that of a failure. */
  readonly events: { readonly text: string; readonly last: string; readonly failure: string };
  readonly errorType: string | undefined;
}

const messages: Case = {
  name: 'messages',
  path: '/v1/messages',
  body: { model: 'acme/m-1', max_tokens: 100, messages: [{ role: 'user', content: 'Hi' }] },
  textOf: ({ content }: { content: [{ text: string }] }) => content[0].text,
  events: { text: 'content_block_delta', last: 'message_stop', failure: 'error' },
  errorType: 'error',
};

const responses: Case = {
  name: 'responses',
  path: '/v1/responses',
  body: { model: 'acme/m-1', max_output_tokens: 100, input: [{ role: 'user', content: 'Hi' }] },
  textOf: ({ output }: { output: [{ content: [{ text: string }] }] }) => output[0].content[0].text,
  events: { text: 'response.output_text.delta', last: 'response.completed', failure: 'response.failed' },
  errorType: undefined,
};

const cases: readonly Case[] = [messages, responses];

interface Sent {
  readonly id: string | undefined;
  readonly type: string;
  readonly data: { readonly type: string; readonly [name: string]: unknown };
}

const eventsOf = (text: string): Sent[] =>
  text
    .split('\n\n')
    .slice(0, -1)
    .map((event) => ({
      id: /^id: (\d+)$/m.exec(event)?.[1],
      type: /^event: (.+)$/m.exec(event)?.[1] ?? '',
      data: JSON.parse(/^data: (.+)$/m.exec(event)?.[1] ?? '') as Sent['data'],
    }));

const USAGE = {
  prompt_tokens: 11,
  completion_tokens: 7,
  total_tokens: 18,
  prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 0 },
  cost: 0.0015,
};

/** As the router ends a stream with include_usage. */
function ending({ generationId }: GenerateRequest): GenerateResponse {
  const end = { id: generationId, choices: [{ index: 0, delta: {}, logprobs: null, finish_reason: 'stop' }] };
  const usage = { id: generationId, choices: [], usage: USAGE };
  const sse = Buffer.from([end, usage].map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join(''));
  return { event: { $case: 'frames', value: { sse, completionTokens: 7, finishedChoices: [] } } };
}

async function* hello(request: GenerateRequest): AsyncIterable<GenerateResponse> {
  if (request.stream) {
    yield frames(request, 'Hel', 3);
    yield frames(request, 'lo', 7);
    yield ending(request);
  }
  yield finished(request);
}

describe.each(cases)('$name', ({ path, body, textOf, events, errorType, name }) => {
  let edge: TestEdge;
  beforeEach(async () => {
    edge = await startEdge({ settings: { endpoints: ['chat', name] } });
    edge.router.script = hello;
  });
  afterEach(() => edge.stop());

  const STREAM = { ...body, stream: true };
  const SAME_KEY = { 'idempotency-key': 'order 66' };
  const post = (sent: object = body, headers = {}, signal?: AbortSignal) =>
    edge.post(path, sent, headers, signal);
  const textsOf = (sent: readonly Sent[]) =>
    sent
      .filter(({ type }) => type === events.text)
      .map(({ data }) => {
        const { delta } = data as unknown as { delta: string | { text: string } };
        return typeof delta === 'string' ? delta : delta.text;
      });
  const errorOf = async (response: Response) =>
    (await response.json()) as { type?: string; error: Record<string, unknown> };

  it('does not exist unless it is turned on', async () => {
    const off = await startEdge();
    const response = await off.post(path, body);
    expect(response.status).toBe(404);
    const { type, error } = await errorOf(response);
    expect(type).toBeUndefined();
    expect(error).toMatchObject({
      code: 'route_not_found',
      message: expect.stringContaining('not supported'),
    });
    await off.stop();
  });

  it('responds to a request as a whole, held and charged like a chat completion', async () => {
    const response = await post();
    expect(response.status).toBe(200);
    const id = response.headers.get('x-generation-id');
    const received = (await response.json()) as { id: string };
    expect(received.id).toBe(id);
    expect(textOf(received as never)).toBe('Hello');
    expect(edge.ledger.amounts).toHaveLength(1);
    expect(edge.router.requests).toMatchObject([
      { modelId: 'acme/m-1', apiType: name, stream: false, maxOutputTokens: 100 },
    ]);
    expect(JSON.parse(String(edge.router.requests[0]?.bodyJson))).toMatchObject({
      messages: [{ role: 'user' }],
    });
  });

  it('streams its own events', async () => {
    const response = await post(STREAM);
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    const sent = eventsOf(await response.text());
    expect(sent.every(({ type, data }) => type === data.type)).toBe(true);
    expect(textsOf(sent)).toEqual(['Hel', 'lo']);
    expect(sent.at(-1)?.type).toBe(events.last);
    expect(edge.router.requests).toMatchObject([{ stream: true, includeUsage: true }]);
  });

  it('returns errors with the envelope of every endpoint', async () => {
    const invalid = await post({ ...body, foo: 1 });
    expect(invalid.status).toBe(400);
    const received = await errorOf(invalid);
    expect(received.type).toBe(errorType);
    expect(received.error).toMatchObject({ code: 'unknown_parameter', param: 'foo', metadata: {} });
    const unknown = await edge.post(path, body, { authorization: '', 'x-api-key': 'sk-gw-test-key' });
    expect(unknown.status).toBe(401);
    expect((await errorOf(unknown)).error).toMatchObject({
      code: 'invalid_api_key',
      message: expect.stringContaining('Authorization: Bearer') as string,
    });
  });

  it('gives back what a refused request took, and says that an overloaded one was not billed', async () => {
    const scope = LimitScope.LIMIT_SCOPE_KEY;
    edge.limiter.refuse = { limitType: LimitType.LIMIT_TYPE_REQUESTS, scope, limit: 1, retryAfterMs: 1_000 };
    const limited = await post();
    expect(limited.status).toBe(429);
    expect((await errorOf(limited)).error).toMatchObject({ code: 'rpm_exceeded' });
    edge.limiter.refuse = undefined;
    edge.router.script = async function* () {
      throw new GatewayError('no_capacity');
    };
    const overloaded = await post();
    expect(overloaded.status).toBe(503);
    expect((await errorOf(overloaded)).error['message']).toContain('was not billed');
    await until(() => edge.ledger.held.size === 0);
  });

  it("names its own field in a provider's refusal", async () => {
    edge.router.script = async function* () {
      throw new GatewayError('invalid_request', { param: 'messages[3].content', message: 'no' });
    };
    const response = await post();
    expect(response.status).toBe(400);
    expect((await errorOf(response)).error).toMatchObject({
      param: name === 'messages' ? 'messages' : 'input',
      message: 'no',
    });
  });

  it('ends a stream that fails after its start with an event that has the error', async () => {
    edge.router.script = async function* (request) {
      yield frames(request, 'Hel', 3);
      throw new GatewayError('upstream_error');
    };
    const sent = eventsOf(await (await post(STREAM)).text());
    expect(textsOf(sent)).toEqual(['Hel']);
    expect(sent.at(-1)?.type).toBe(events.failure);
    expect(JSON.stringify(sent.at(-1)?.data)).toContain('"code":"upstream_error"');
  });

  it('replays a response for its Idempotency-Key, whole and as a stream, apart from other formats', async () => {
    const first = await (await post(body, SAME_KEY)).text();
    const replayed = await post(body, SAME_KEY);
    expect(replayed.headers.get('idempotent-replayed')).toBe('true');
    expect(await replayed.text()).toBe(first);
    expect((await post({ ...body, temperature: 0.5 }, SAME_KEY)).status).toBe(422);
    await (await edge.chat(undefined, SAME_KEY)).text();
    expect(edge.router.requests).toHaveLength(2);

    const key = { 'idempotency-key': 'order 67' };
    const streamed = await post(STREAM, key);
    await streamed.text();
    const again = await post(STREAM, key);
    const sent = eventsOf(await again.text());
    expect(textsOf(sent)).toEqual(['Hello']);
    expect(sent.at(-1)?.type).toBe(events.last);
    expect(again.headers.get('x-generation-id')).toBe(streamed.headers.get('x-generation-id'));
    expect(edge.router.requests).toHaveLength(3);
  });

  it('continues a stream after the last event of the client, while it runs and once it is stored', async () => {
    const after = (id: number) => ({ ...SAME_KEY, 'last-event-id': String(id) });
    let proceed = () => {};
    const mayProceed = new Promise<void>((resolve) => (proceed = resolve));
    edge.router.script = async function* (request) {
      yield frames(request, 'Hel', 3);
      await mayProceed;
      yield frames(request, 'lo', 7);
      yield ending(request);
      yield finished(request);
    };
    const first = await post(STREAM, after(0));
    const id = first.headers.get('x-generation-id') ?? '';
    const followed: unknown[] = [];
    edge.router.follow = async function* (request) {
      followed.push(request);
      const running = { generationId: id } as never;
      yield frames(running, 'Hel', 3);
      yield frames(running, 'lo', 7);
      yield ending(running);
      yield finished({ stream: true } as never);
    };
    const known = 4;
    const joined = await post(STREAM, after(known));
    const rest = await joined.text();
    proceed();
    const all = eventsOf(await first.text());
    expect(all.map((event) => event.id)).toEqual(all.map((_, index) => String(index + 1)));
    const ids = eventsOf(rest).map((event) => event.id);
    expect(ids).toEqual(all.slice(known).map((event) => event.id));
    expect(followed).toMatchObject([{ afterEvent: 0 }]);

    await until(() =>
      [...edge.ledger.claims.values()].every(({ responseJson }) => responseJson !== undefined),
    );
    const request = { generationId: id } as never;
    const stored = [frames(request, 'Hel', 3), frames(request, 'lo', 7), ending(request)]
      .map(({ event }) => (event?.$case === 'frames' ? event.value.sse.toString() : ''))
      .join('');
    for (const claim of edge.ledger.claims.values()) claim.responseEvents = deflateSync(stored);
    expect(await (await post(STREAM, after(known))).text()).toBe(rest);
  });

  it('cancels the generation of a client that disconnects', async () => {
    edge.router.script = async function* (request, signal) {
      yield frames(request, 'Hel', 3);
      await aborted(signal);
    };
    const cancel = new AbortController();
    const response = await post(STREAM, {}, cancel.signal);
    await response.body?.getReader().read();
    cancel.abort();
    await until(() => edge.router.cancelled === 1);
  });
});

describe('messages', () => {
  let edge: TestEdge;
  beforeEach(async () => {
    edge = await startEdge({ settings: { endpoints: ['chat', 'messages'] } });
  });
  afterEach(() => edge.stop());

  it('counts tokens without an output limit, a hold, a slot or a charge', async () => {
    const { max_tokens: _, ...body } = messages.body as Record<string, unknown>;
    const response = await edge.post('/v1/messages/count_tokens?beta=true', body);
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ input_tokens: expect.any(Number) as number });
    expect([edge.ledger.amounts.length, edge.router.requests.length]).toEqual([0, 0]);
    expect(edge.faults.reached).not.toContain('limiter.admit');
    const unknown = await edge.post('/v1/messages/count_tokens', { ...body, model: 'acme/none' });
    expect(unknown.status).toBe(404);
    expect(await unknown.json()).toMatchObject({ type: 'error', error: { code: 'model_not_found' } });
  });

  it('limits the counts of tokens of a key per minute, as it limits invalid requests', async () => {
    const settings = { endpoints: ['chat', 'messages'] as const, maxInvalidRequestsPerMinute: 2 };
    const limited = await startEdge({ settings, clock: { now: () => 1_000 as UnixMs } });
    limited.keys.set(
      KEY,
      grant({ organizationLimits: undefined, keyLimits: { requestsPerMinute: 0 } as never }),
    );
    const count = async () => (await limited.post('/v1/messages/count_tokens', messages.body)).status;
    expect([await count(), await count(), await count()]).toEqual([200, 200, 429]);
    await limited.stop();
  });

  it('accepts betas as a header and a query parameter, and sends the id of the request as request-id', async () => {
    const response = await edge.post('/v1/messages?beta=true', messages.body, {
      'anthropic-beta': 'a-2026-01-01',
      'anthropic-version': '2023-06-01',
    });
    expect(response.status).toBe(200);
    expect(response.headers.get('request-id')).toBe(response.headers.get('x-request-id'));
  });
});
