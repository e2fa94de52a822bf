import { connect, type Socket } from 'node:net';
import type { GenerateRequest, GenerateResponse } from '@gateway/contracts/inference-router';
import { GatewayError } from '@gateway/errors';
import {
  BODY,
  grant,
  KEY,
  startEdge,
  type StartEdgeOptions,
  type TestEdge,
  until,
} from '../../testing/start-edge';
import { aborted, finished, frames } from '../../testing/stub-router';

let edge: TestEdge;
async function start(settings: StartEdgeOptions['settings'] = {}): Promise<void> {
  edge = await startEdge({ settings });
}
afterEach(() => edge.stop());

const STREAM = { ...BODY, stream: true };

function dataOf(text: string): string[] {
  return text
    .split('\n\n')
    .filter((event) => event.startsWith('data: '))
    .map((event) => event.slice('data: '.length));
}

/** Opens a stream on a raw, paused socket. */
function openSocket(): Promise<Socket> {
  const body = JSON.stringify(STREAM);
  const socket = connect(edge.port, '127.0.0.1');
  socket.on('error', () => {});
  socket.pause();
  socket.write(
    `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${KEY}\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
  return new Promise((resolve) => socket.on('connect', () => resolve(socket)));
}

it('returns the status of a failure before the first message', async () => {
  await start();
  edge.router.script = async function* () {
    const message = 'The provider failed three times.';
    throw new GatewayError('upstream_error', { message, generationRecorded: true });
    yield finished({} as GenerateRequest);
  };
  for (const stream of [false, true]) {
    const response = await edge.chat({ ...BODY, stream });
    expect(response.status).toBe(502);
    expect(await response.json()).toMatchObject({ error: { code: 'upstream_error', type: 'api_error' } });
    expect(response.headers.get('x-generation-id')).toMatch(/^gen-/);
  }
  expect(edge.limiter.returned).toBe(2);
  expect(edge.ledger.held.size).toBe(0);
});

it('returns no generation ID for a failure without a record, since it could never be looked up', async () => {
  await start();
  edge.router.script = async function* () {
    throw new GatewayError('no_capacity');
    yield finished({} as GenerateRequest);
  };
  const response = await edge.chat();
  expect(response.status).toBe(503);
  expect(response.headers.get('x-generation-id')).toBeNull();
});

it('keeps a request counted once a provider was called, and releases its tokens', async () => {
  await start();
  edge.router.script = async function* () {
    throw new GatewayError('invalid_request', { providerCalled: true });
    yield finished({} as GenerateRequest);
  };
  for (const stream of [false, true]) {
    expect((await edge.chat({ ...BODY, stream })).status).toBe(400);
  }
  expect(edge.limiter.usedTokens).toEqual([0, 0]);
  expect(edge.limiter.returned).toBe(0);
  expect(edge.ledger.held.size).toBe(0);
});

it('ends a stream that fails after its start with an error chunk and [DONE]', async () => {
  await start();
  edge.router.script = async function* (request) {
    yield frames(request, 'Hel', 3);
    throw new GatewayError('upstream_error', { message: 'The provider closed the stream.' });
  };
  const response = await edge.chat(STREAM);
  const text = await response.text();
  const [, chunk = '', done] = dataOf(text);
  expect(response.status).toBe(200);
  expect(done).toBe('[DONE]');
  expect(JSON.parse(chunk)).toEqual({
    id: response.headers.get('x-generation-id'),
    object: 'chat.completion.chunk',
    created: expect.any(Number),
    model: 'acme/m-1',
    choices: [{ index: 0, delta: { content: '' }, logprobs: null, finish_reason: 'error' }],
    error: {
      message: 'The provider closed the stream.',
      type: 'api_error',
      code: 'upstream_error',
      metadata: {},
    },
  });
  // The estimated input plus the three reported tokens.
  expect(edge.limiter.usedTokens).toEqual([(edge.router.requests[0]?.estimatedInputTokens ?? 0) + 3]);
  expect(edge.logLines.join('')).toContain('"code":"upstream_error"');
});

it.each([
  [1, [0], [0]],
  [3, [], [0, 1, 2]],
  [3, [0, 2], [1]],
  [2, [0, 1], [0, 1]],
])('of %i completions, after %j have finished, the error chunk names %j', async (n, finished, failed) => {
  await start();
  const { organizationLimits } = grant();
  if (organizationLimits) organizationLimits.multipleCompletions = true;
  edge.keys.set(KEY, grant({ organizationLimits }));
  edge.router.script = async function* (request) {
    yield frames(request, 'Hel', 3, finished);
    throw new GatewayError('upstream_error');
  };
  const [, chunk = ''] = dataOf(await (await edge.chat({ ...STREAM, n })).text());
  const { choices } = JSON.parse(chunk) as { choices: { index: number; finish_reason: string }[] };
  expect(choices.map(({ index, finish_reason }) => [index, finish_reason])).toEqual(
    failed.map((index) => [index, 'error']),
  );
});

it('does not reveal an internal error after the start', async () => {
  await start();
  edge.router.script = async function* (request) {
    yield frames(request, 'Hel', 3);
    throw new Error('at 10.1.2.3');
  };
  const text = await (await edge.chat(STREAM)).text();
  expect(text).toContain('"code":"internal_error"');
  expect(text).not.toContain('10.1.2.3');
});

it('ends a stream without a last message with an error', async () => {
  await start();
  edge.router.script = async function* (request) {
    yield frames(request, 'Hel', 3);
  };
  const text = await (await edge.chat(STREAM)).text();
  expect(text).toContain('"finish_reason":"error"');
  expect(dataOf(text).at(-1)).toBe('[DONE]');
});

it('cancels the generation when the client disconnects, counts its output, and leaves the hold to the settlement', async () => {
  await start();
  edge.router.script = async function* (request, signal) {
    yield frames(request, 'Hel', 3);
    await aborted(signal);
  };
  const client = new AbortController();
  const response = await edge.chat(STREAM, {}, client.signal);
  const reader = response.body?.getReader();
  await reader?.read();
  client.abort();
  await until(() => edge.router.cancelled === 1 && edge.limiter.outstanding.size === 0);
  expect(edge.limiter.usedTokens).toEqual([(edge.router.requests[0]?.estimatedInputTokens ?? 0) + 3]);
  expect(edge.faults.reached).not.toContain('ledger.void');
  expect(edge.ledger.held.size).toBe(0);
});

it('cancels the call when the client disconnects before the first message, and releases the hold only after a settlement had time', async () => {
  await start();
  edge.router.script = async function* (request, signal) {
    await aborted(signal);
    yield finished(request);
  };
  for (const stream of [false, true]) {
    const client = new AbortController();
    const response = edge.chat({ ...BODY, stream }, {}, client.signal).catch(() => undefined);
    await until(() => edge.limiter.outstanding.size === 1 && edge.ledger.held.size === 1);
    client.abort();
    await response;
    await until(() => edge.limiter.outstanding.size === 0);
    expect(edge.ledger.held.size).toBe(1);
    await until(() => edge.ledger.held.size === 0);
  }
  expect(edge.router.cancelled).toBe(2);
});

it('pauses the generation while the client does not read, so that memory stays bounded', async () => {
  await start();
  const chunk = 'x'.repeat(64 * 1024);
  let sent = 0;
  edge.router.script = async function* (request) {
    for (; sent < 4_000; sent += 1) yield frames(request, chunk, sent);
    yield finished(request);
  };
  const socket = await openSocket();
  // Waits until the socket buffers are full and no more frames are read from the router.
  let before = -1;
  await until(() => {
    const isPaused = sent > 0 && sent === before;
    before = sent;
    return isPaused && edge.faults.reached.length > 0;
  });
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(sent).toBeLessThan(1_000);

  // Reading resumes the generation.
  const pausedAt = sent;
  socket.resume();
  await until(() => sent > pausedAt + 50);
  socket.destroy();
  await until(() => edge.limiter.outstanding.size === 0);
});

it('writes keep-alive comments into an idle stream, between events only', async () => {
  await start({ keepAliveCommentMs: 20 });
  let release = () => {};
  const silence = new Promise<void>((resolve) => (release = resolve));
  edge.router.script = async function* (request) {
    yield frames(request, 'Hel', 3);
    await silence;
    yield finished(request);
  };
  const response = await edge.chat(STREAM);
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  while (!text.includes(': keep-alive\n\n: keep-alive\n\n')) text += (await reader?.read())?.value ?? '';
  release();
  for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) text += part.value;
  expect(text).toMatch(/^data: \{.*\}\n\n(: keep-alive\n\n)+data: \[DONE\]\n\n$/);
});

describe('a provider that is silent before its first event', () => {
  const silentUntil = async (script: () => Promise<void>) => {
    let release = () => {};
    const silence = new Promise<void>((resolve) => (release = resolve));
    edge.router.script = async function* (request) {
      await silence;
      await script();
      yield frames(request, 'Hel', 3);
      yield finished(request);
    };
    const response = await edge.chat(STREAM);
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = (await reader?.read())?.value ?? '';
    release();
    for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) text += part.value;
    return { response, text };
  };

  it('keeps the connection open with comments', async () => {
    await start({ firstCommentMs: 20 });
    const { response, text } = await silentUntil(() => Promise.resolve());
    expect(response.headers.get('x-generation-id')).toMatch(/^gen-/);
    expect(text).toMatch(/^(: keep-alive\n\n)+data: \{.*\}\n\ndata: \[DONE\]\n\n$/);
  });

  it('ends the stream with the error when it then fails, and releases the hold', async () => {
    await start({ firstCommentMs: 20 });
    const { response, text } = await silentUntil(() => Promise.reject(new GatewayError('upstream_error')));
    expect(response.status).toBe(200);
    const [chunk, done] = dataOf(text);
    expect(JSON.parse(chunk ?? '')).toMatchObject({
      choices: [{ finish_reason: 'error' }],
      error: { code: 'upstream_error' },
    });
    expect(done).toBe('[DONE]');
    expect(edge.limiter.returned).toBe(1);
    expect(edge.ledger.held.size).toBe(0);
  });

  it('has its own status until the first comment', async () => {
    await start({ keepAliveCommentMs: 20 });
    edge.router.script = async function* () {
      await new Promise((resolve) => setTimeout(resolve, 100));
      throw new GatewayError('upstream_error');
      yield finished({} as GenerateRequest);
    };
    expect((await edge.chat(STREAM)).status).toBe(502);
  });

  it('sends no comment for a response that is not streamed', async () => {
    await start({ firstCommentMs: 20 });
    edge.router.script = async function* () {
      await new Promise((resolve) => setTimeout(resolve, 100));
      throw new GatewayError('upstream_error');
      yield finished({} as GenerateRequest);
    };
    expect((await edge.chat(BODY)).status).toBe(502);
  });
});

it('returns request_timeout when a generation exceeds its deadline', async () => {
  await start({ generationTimeoutMs: 40, generationMarginMs: 10 });
  edge.router.script = async function* (request, signal) {
    await aborted(signal);
    yield finished(request);
  };
  const response = await edge.chat();
  expect(response.status).toBe(408);
  expect(await response.json()).toMatchObject({ error: { code: 'request_timeout', type: 'timeout_error' } });
  expect(edge.limiter.outstanding.size + edge.ledger.held.size).toBe(0);
  expect(edge.limiter.returned).toBe(0);
});

it('completes a hundred concurrent streams', async () => {
  await start();
  edge.router.script = async function* (request: GenerateRequest): AsyncIterable<GenerateResponse> {
    for (let index = 0; index < 20; index += 1) {
      await new Promise((resolve) => setImmediate(resolve));
      yield frames(request, `${index} `, index);
    }
    yield finished(request);
  };
  const texts = await Promise.all(Array.from({ length: 100 }, async () => (await edge.chat(STREAM)).text()));
  for (const text of texts) expect(dataOf(text)).toHaveLength(21);
  expect(edge.limiter.outstanding.size + edge.ledger.held.size).toBe(0);
});

it('renews the slot of a long stream until it ends', async () => {
  await start();
  edge.limiter.slotLeaseMs = 30;
  let release = () => {};
  const pause = new Promise<void>((resolve) => (release = resolve));
  edge.router.script = async function* (request) {
    yield frames(request, 'Hel', 3);
    await pause;
    yield finished(request);
  };
  const response = await edge.chat(STREAM);
  await until(() => edge.limiter.renewed.length >= 1);
  release();
  await response.text();
  expect(new Set(edge.limiter.renewed)).toEqual(new Set([response.headers.get('x-generation-id')]));
});
