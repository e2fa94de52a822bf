import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { collectGarbage } from '@gateway/test-support';
import type { Provider } from '../../core/catalogue/model-catalogue';
import type { ProviderResponse } from '../../core/ports';
import { UpstreamFailure } from '../../core/failure/upstream-failure';
import { provider, TARGET_OPTIONS } from '../../testing/router-under-test';
import { ScriptedProvider } from '../../testing/scripted-provider';
import { createUndiciTransport } from './undici-transport';

let upstream: ScriptedProvider;
let transport: ReturnType<typeof createUndiciTransport>;
let target: Provider;
let sent = 0;

beforeEach(async () => {
  sent = 0;
  upstream = await ScriptedProvider.start();
  transport = createUndiciTransport({ openCredential: () => undefined });
  target = provider('acme', upstream.url, { maxConcurrent: 1 });
});
afterEach(async () => {
  await transport.close();
  await upstream.stop();
});

function send(
  signal: AbortSignal = new AbortController().signal,
  body: Uint8Array = Buffer.from('{}'),
): Promise<ProviderResponse> {
  return transport.send({
    target: {
      provider: target,
      providerModel: 'm',
      signer: 'signer-acme',
      weight: 1,
      retryTimeouts: true,
      options: TARGET_OPTIONS,
    },
    path: '/chat/completions',
    body,
    stream: true,
    signal,
    onSent: () => (sent += 1),
  });
}

/** The next bytes of a response, or its end. */
async function next(response: ProviderResponse): Promise<Uint8Array | 'end'> {
  for (;;) {
    const bytes = response.poll();
    if (bytes !== 'none_yet') return bytes;
    await new Promise<void>((resolve) => response.listen(resolve));
  }
}

async function readAll(response: ProviderResponse): Promise<number> {
  let length = 0;
  for (let bytes = await next(response); bytes !== 'end'; bytes = await next(response))
    length += bytes.length;
  return length;
}

/** A request of this size. */
function requestOf(bytes: number): Buffer {
  return Buffer.from(JSON.stringify({ text: 'x'.repeat(bytes - 11) }));
}

/** A separate function, so that the test's closure does not retain the body. */
async function openStream(bytes: number): Promise<{ response: ProviderResponse; body: WeakRef<Uint8Array> }> {
  const body = requestOf(bytes);
  return { response: await send(undefined, body), body: new WeakRef<Uint8Array>(body) };
}

it('a large request arrives as it is, and is garbage collected while its response is open', async () => {
  upstream.play((response) => void response.writeHead(200).write('x'));
  const { response, body } = await openStream(300_000);
  expect(await next(response)).toHaveLength(1);
  expect(upstream.calls[0]?.text).toBe(requestOf(300_000).toString());
  expect(upstream.calls[0]?.headers).toMatchObject({ 'content-length': '300000' });
  expect(response.poll()).toBe('none_yet');
  do {
    // V8 retains objects created during marking until the next cycle.
    await nextTurn();
    collectGarbage();
  } while (body.deref() !== undefined);
  expect(response.poll()).toBe('none_yet');
});

it.each([10, 300_000])('a connection is reused after a request of %i bytes', async (bytes) => {
  const ports = new Set<number | undefined>();
  upstream.play((response) => {
    ports.add(response.socket?.remotePort);
    response.end('done');
  });
  for (let call = 0; call < 3; call += 1)
    expect(await readAll(await send(undefined, requestOf(20 + bytes)))).toBe(4);
  expect(ports.size).toBe(1);
});

it('a large request that was not sent fails as any other', async () => {
  upstream.play((response) => void response.writeHead(200).write('x'));
  await send();
  const queued = new AbortController();
  const [cancelled, stopped] = [send(queued.signal, requestOf(300_000)), send(undefined, requestOf(300_000))];
  queued.abort(new UpstreamFailure('cancelled', { detail: 'cancelled' }));
  await expect(cancelled).rejects.toMatchObject({ kind: 'cancelled' });
  await Promise.all([transport.close(), expect(stopped).rejects.toMatchObject({ kind: 'failed' })]);
});

it('a connection that closes while a large request is sent fails the call', async () => {
  const server = createServer((socket) => void socket.once('data', () => socket.destroy()));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  target = provider('closing', `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  await expect(send(undefined, requestOf(8_000_000))).rejects.toMatchObject({ kind: 'failed' });
  server.close();
});

it('an unread response applies back-pressure to its provider, and is complete once it is read', async () => {
  const block = Buffer.alloc(64 * 1024, 'x');
  const blocks = 1_000;
  let stalled: () => void = () => undefined;
  const isStalled = new Promise<void>((resolve) => (stalled = resolve));
  upstream.play(async (response) => {
    response.writeHead(200);
    for (let sent = 0; sent < blocks; sent += 1) {
      if (response.write(block)) continue;
      // The socket buffers are full when nothing drains for a while.
      const idle = setTimeout(stalled, 200);
      await once(response, 'drain');
      clearTimeout(idle);
    }
    response.end();
  });
  const response = await send();
  await isStalled;
  expect(await readAll(response)).toBe(blocks * block.length);
});

it('a response is complete for a reader that polls at every arrival, although each read resumes the connection', async () => {
  const size = 64 * 1024;
  const blocks = Array.from({ length: 200 }, (_, index) => Buffer.alloc(size, index));
  let stalled: () => void = () => undefined;
  const isStalled = new Promise<void>((resolve) => (stalled = resolve));
  upstream.play(async (response) => {
    response.writeHead(200);
    for (const block of blocks) {
      if (response.write(block)) continue;
      const idle = setTimeout(stalled, 200);
      await once(response, 'drain');
      clearTimeout(idle);
    }
    response.end();
  });
  const response = await send();
  await isStalled;
  const read: Uint8Array[] = [];
  await new Promise<void>((resolve) => {
    const readAvailable = () => {
      for (let bytes = response.poll(); bytes !== 'none_yet'; bytes = response.poll()) {
        if (bytes === 'end') return resolve();
        read.push(bytes);
      }
    };
    response.listen(readAvailable);
    readAvailable();
  });
  expect(Buffer.concat(read).equals(Buffer.concat(blocks))).toBe(true);
});

it('a call that is queued for a connection is cancelled immediately and never sent', async () => {
  let finish: () => void = () => undefined;
  upstream.play((response) => {
    response.writeHead(200).flushHeaders();
    finish = () => response.end();
  });
  const first = await send();
  const caller = new AbortController();
  const second = send(caller.signal);
  caller.abort(new UpstreamFailure('cancelled', { detail: 'cancelled' }));
  await expect(second).rejects.toMatchObject({ kind: 'cancelled' });
  expect(sent).toBe(1);
  finish();
  expect(await readAll(first)).toBe(0);
  const third = await send();
  finish();
  await readAll(third);
  expect(upstream.calls).toHaveLength(2);
});

it('bytes that arrived before a connection broke are read before the failure', async () => {
  upstream.play(async (response) => {
    response.writeHead(200).write('the beginning');
    await new Promise((resolve) => setImmediate(resolve));
    response.destroy();
  });
  const response = await send();
  expect(String(await next(response))).toBe('the beginning');
  await expect(next(response)).rejects.toMatchObject({ kind: 'failed' });
});

it('the connection of a released response is reused when the response ends soon, else closed', async () => {
  const sockets: unknown[] = [];
  upstream.play(
    (response) => {
      sockets.push(response.socket);
      response.writeHead(200).write('most of it');
      setImmediate(() => response.end('the rest'));
    },
    async (response, { cut }) => {
      sockets.push(response.socket);
      const more = setInterval(() => response.write(Buffer.alloc(16 * 1024)), 1);
      response.writeHead(200).flushHeaders();
      await cut;
      clearInterval(more);
    },
    (response) => {
      sockets.push(response.socket);
      response.end();
    },
  );
  for (let call = 0; call < 3; call += 1) {
    const response = await send();
    response.release();
  }
  expect(sockets[1]).toBe(sockets[0]);
  expect(sockets[2]).not.toBe(sockets[1]);
});
