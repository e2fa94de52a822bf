import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { finished } from '../../../testing/stub-router';
import { BODY, grant, KEY, startEdge, type TestEdge, until } from '../../../testing/start-edge';

const LIMIT = 64 * 1024;

let edge: TestEdge;
let impatientEdge: TestEdge;
beforeAll(async () => {
  edge = await startEdge({ settings: { maxBodyBytes: LIMIT } });
  impatientEdge = await startEdge({ settings: { bodyTimeoutMs: 1_000 } });
});
afterAll(() => Promise.all([edge.stop(), impatientEdge.stop()]));

const PLAIN = JSON.stringify(BODY);

function send(body: Uint8Array | string | ReadableStream, headers: Record<string, string> = {}) {
  return fetch(`${edge.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}`, ...headers },
    body,
    ...(body instanceof ReadableStream ? { duplex: 'half' } : {}),
  } as RequestInit);
}

async function outcome(response: Response): Promise<[number, string]> {
  const body = (await response.json()) as { error?: { code: string } };
  return [response.status, body.error?.code ?? 'ok'];
}

/** Sends raw bytes and resolves with everything received. */
function overSocket(parts: readonly string[], stayOpen = false, { port } = edge): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    let received = '';
    socket.on('data', (data) => (received += data.toString()));
    socket.on('error', reject);
    socket.on('close', () => resolve(received));
    for (const part of parts) socket.write(part);
    if (!stayOpen) socket.end();
  });
}

it.each([
  ['gzip', gzipSync(PLAIN)],
  ['x-gzip', gzipSync(PLAIN)],
  ['GZIP', gzipSync(PLAIN)],
  ['deflate', deflateSync(PLAIN)],
  ['br', brotliCompressSync(PLAIN)],
  ['identity', Buffer.from(PLAIN)],
])('reads a body in %s', async (encoding, body) => {
  expect((await send(body, { 'content-encoding': encoding })).status).toBe(200);
});

it.each([
  ['an unknown coding', 'zstd', Buffer.from(PLAIN)],
  ['two codings', 'gzip, gzip', gzipSync(gzipSync(PLAIN))],
  ['a body that does not match its encoding', 'gzip', Buffer.from(PLAIN)],
  ['a truncated body', 'gzip', gzipSync(PLAIN).subarray(0, 20)],
])('returns invalid_json for %s', async (_name, encoding, body) => {
  expect(await outcome(await send(body, { 'content-encoding': encoding }))).toEqual([400, 'invalid_json']);
});

it('accepts a body of exactly the limit, and no byte more', async () => {
  const padded = (length: number) => PLAIN + ' '.repeat(length - PLAIN.length);
  expect((await send(padded(LIMIT))).status).toBe(200);
  expect(await outcome(await send(padded(LIMIT + 1)))).toEqual([413, 'request_too_large']);
});

it('refuses a chunked body at the limit', async () => {
  const endless = new ReadableStream({
    pull: (controller) => controller.enqueue(new Uint8Array(16 * 1024)),
  });
  // The server responds and then closes; fetch reports the response or the closed
  // upload, whichever it notices first.
  const result = await send(endless).then(outcome, () => 'closed');
  expect(['closed', [413, 'request_too_large']]).toContainEqual(result);
});

it('refuses a decompression bomb by its decompressed size', async () => {
  const bomb = gzipSync(Buffer.alloc(LIMIT * 100, ' '));
  expect(bomb.length).toBeLessThan(LIMIT);
  expect(await outcome(await send(bomb, { 'content-encoding': 'gzip' }))).toEqual([413, 'request_too_large']);
});

it('sends an early refusal to a client that is still sending, and then closes the connection', async () => {
  const received = await overSocket(
    [
      'POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\n',
      `authorization: Bearer ${KEY}\r\ncontent-length: ${LIMIT * 2}\r\n\r\n`,
      'x'.repeat(LIMIT * 2),
    ],
    true,
  );
  expect(received).toMatch(/^HTTP\/1\.1 413 /);
  expect(received).toMatch(/connection: close/i);
  expect(received).toContain('"code":"request_too_large"');
});

it.each([16, 400])(
  'a client that sends a body %i times too large before it reads gets the error',
  async (times) => {
    const socket = connect(edge.port, '127.0.0.1').pause();
    let failure: Error | undefined;
    socket.on('error', (error) => (failure = error));
    socket.write('POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\n');
    socket.write(`authorization: Bearer ${KEY}\r\ncontent-length: ${LIMIT * times}\r\n\r\n`);
    for (let sent = 0; sent < times; sent += 1) socket.write('x'.repeat(LIMIT));
    // Until everything is sent, or the server reads no more.
    for (let before = -1; socket.writableLength !== before;) {
      before = socket.writableLength;
      await delay(50);
    }
    let received = '';
    for await (const data of socket) {
      received += String(data);
      if (received.endsWith('}')) break;
    }
    expect(failure).toBeUndefined();
    expect(received).toMatch(/^HTTP\/1\.1 413 /);
    expect(received).toContain('"code":"request_too_large"');
  },
);

it('returns request_timeout for a body that does not arrive', async () => {
  const received = await overSocket(
    [
      'POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nconnection: close\r\n',
      `authorization: Bearer ${KEY}\r\ncontent-length: 100\r\n\r\n{"model"`,
    ],
    true,
    impatientEdge,
  );
  expect(received).toMatch(/^HTTP\/1\.1 408 /);
  expect(received).toContain('"code":"request_timeout"');
});

it('sends 100 Continue only after the key was accepted', async () => {
  const head = (key: string) =>
    'POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nconnection: close\r\nexpect: 100-continue\r\n' +
    `authorization: Bearer ${key}\r\ncontent-length: ${PLAIN.length}\r\n\r\n`;
  expect(await overSocket([head('sk-gw-unknown')], true)).toMatch(/^HTTP\/1\.1 401 /);
  const accepted = await overSocket([head(KEY), PLAIN], true);
  expect(accepted).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 /);
});

it('reuses the connection after a refused request with a small body', async () => {
  const received = await overSocket([
    'POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\n\r\n12345',
    'GET /nowhere HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n',
  ]);
  expect(received.match(/HTTP\/1\.1 (\d+)/g)).toEqual(['HTTP/1.1 401', 'HTTP/1.1 404']);
});

it('leaves memory for the bodies of other organizations', async () => {
  const shared = await startEdge({ settings: { maxInflightBodyBytes: PLAIN.length * 8 } });
  shared.keys.set('sk-gw-other', grant({ keyId: 'key_2', organizationId: 'org_2' }));
  let release = () => {};
  const pause = new Promise<void>((resolve) => (release = resolve));
  shared.router.script = async function* (request) {
    await pause;
    yield finished(request);
  };
  const running: Promise<Response>[] = [];
  for (let count = 1; count <= 7; count += 1) {
    running.push(shared.chat());
    await until(() => shared.ledger.held.size === count);
  }
  expect(await outcome(await shared.chat())).toEqual([503, 'no_capacity']);
  running.push(shared.chat(BODY, { authorization: 'Bearer sk-gw-other' }));
  await until(() => shared.ledger.held.size === 8);
  release();
  expect((await Promise.all(running)).map(({ status }) => status)).toEqual(running.map(() => 200));
  await shared.stop();
});

it('bounds the total size of the bodies of all running requests', async () => {
  const small = await startEdge({ settings: { maxInflightBodyBytes: PLAIN.length * 2 - 1 } });
  let release = () => {};
  const pause = new Promise<void>((resolve) => (release = resolve));
  small.faults.at('router.generate', () => pause);
  const first = small.chat();
  await until(() => small.ledger.held.size === 1);
  expect(await outcome(await small.chat())).toEqual([503, 'no_capacity']);
  release();
  expect((await first).status).toBe(200);
  // The bytes of the first request are free again.
  expect((await small.chat()).status).toBe(200);
  await small.stop();
});
