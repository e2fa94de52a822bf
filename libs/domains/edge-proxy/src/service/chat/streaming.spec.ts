import { connect, type Socket } from 'node:net';
import type { GenerateRequest, GenerateResponse } from '@gateway/contracts/inference-router';
import { GatewayError } from '@gateway/errors';
import { BODY, KEY, startEdge, type StartEdgeOptions, type TestEdge, until } from '../../testing/start-edge';
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

/** Opens a stream by hand and reads nothing until told to. */
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

it('a failure before the first message keeps its own status', async () => {
  await start();
  edge.router.script = async function* () {
    throw new GatewayError('upstream_error', { message: 'The provider failed three times.' });
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

it('once a provider was called the request stays counted, whatever came back; its tokens are released', async () => {
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

it('a failure after the start is the last chunk, with finish_reason and the envelope, then [DONE]', async () => {
  await start();
  edge.router.script = async function* (request) {
    yield frames(request, 'Hel', 3);
    throw new GatewayError('upstream_error', { message: 'The provider broke off.' });
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
    error: { message: 'The provider broke off.', type: 'api_error', code: 'upstream_error', metadata: {} },
  });
  // Two words of input are estimated, three tokens were heard of.
  expect(edge.limiter.usedTokens).toEqual([(edge.router.requests[0]?.estimatedInputTokens ?? 0) + 3]);
  expect(edge.logLines.join('')).toContain('"code":"upstream_error"');
});

it('a bug after the start tells the caller nothing of itself', async () => {
  await start();
  edge.router.script = async function* (request) {
    yield frames(request, 'Hel', 3);
    throw new Error('at 10.1.2.3');
  };
  const text = await (await edge.chat(STREAM)).text();
  expect(text).toContain('"code":"internal_error"');
  expect(text).not.toContain('10.1.2.3');
});

it('a stream without an end is never ended silently', async () => {
  await start();
  edge.router.script = async function* (request) {
    yield frames(request, 'Hel', 3);
  };
  const text = await (await edge.chat(STREAM)).text();
  expect(text).toContain('"finish_reason":"error"');
  expect(dataOf(text).at(-1)).toBe('[DONE]');
});

it('the caller cancels: the provider is cancelled too, what was produced is counted, the hold is left to settle', async () => {
  await start();
  edge.router.script = async function* (request, signal) {
    yield frames(request, 'Hel', 3);
    await aborted(signal);
  };
  const caller = new AbortController();
  const response = await edge.chat(STREAM, {}, caller.signal);
  const reader = response.body?.getReader();
  await reader?.read();
  caller.abort();
  await until(() => edge.router.cancelled === 1 && edge.limiter.outstanding.size === 0);
  expect(edge.limiter.usedTokens).toEqual([(edge.router.requests[0]?.estimatedInputTokens ?? 0) + 3]);
  expect(edge.faults.reached).not.toContain('ledger.void');
  expect(edge.ledger.held.size).toBe(0);
});

it('the caller cancels before the first message: so is the call, and the hold is released', async () => {
  await start();
  edge.router.script = async function* (request, signal) {
    await aborted(signal);
    yield finished(request);
  };
  for (const stream of [false, true]) {
    const caller = new AbortController();
    const answer = edge.chat({ ...BODY, stream }, {}, caller.signal).catch(() => undefined);
    await until(() => edge.limiter.outstanding.size === 1 && edge.ledger.held.size === 1);
    caller.abort();
    await answer;
    await until(() => edge.limiter.outstanding.size === 0 && edge.ledger.held.size === 0);
  }
  expect(edge.router.cancelled).toBe(2);
});

it('a reader that stands still stops the generation, and memory does not grow', async () => {
  await start();
  const chunk = 'x'.repeat(64 * 1024);
  let sent = 0;
  edge.router.script = async function* (request) {
    for (; sent < 4_000; sent += 1) yield frames(request, chunk, sent);
    yield finished(request);
  };
  const socket = await openSocket();
  // Until the buffers of both ends are full, nothing more is taken from the router.
  let before = -1;
  await until(() => {
    const stands = sent > 0 && sent === before;
    before = sent;
    return stands && edge.faults.reached.length > 0;
  });
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(sent).toBeLessThan(1_000);

  // Reading on lets it go on.
  const stoodAt = sent;
  socket.resume();
  await until(() => sent > stoodAt + 50);
  socket.destroy();
  await until(() => edge.limiter.outstanding.size === 0);
});

it('a silent stream is kept alive by comments, between events only', async () => {
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

it('a generation that never answers ends with its deadline', async () => {
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

it('a hundred streams at once all end well', async () => {
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

it('the slot of a long stream is renewed until it ends', async () => {
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
