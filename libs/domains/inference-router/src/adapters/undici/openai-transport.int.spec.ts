import { once } from 'node:events';
import type { Provider } from '../../core/catalogue/model-catalogue';
import type { ProviderAnswer } from '../../core/ports';
import { UpstreamFailure } from '../../core/failure/upstream-failure';
import { provider } from '../../testing/router-under-test';
import { ScriptedProvider } from '../../testing/scripted-provider';
import { createOpenAiTransport } from './openai-transport';

let upstream: ScriptedProvider;
let transport: ReturnType<typeof createOpenAiTransport>;
let target: Provider;
let sent = 0;

beforeEach(async () => {
  sent = 0;
  upstream = await ScriptedProvider.start();
  transport = createOpenAiTransport();
  target = provider('acme', upstream.url, { maxConcurrent: 1 });
});
afterEach(async () => {
  await transport.close();
  await upstream.stop();
});

function send(signal: AbortSignal = new AbortController().signal): Promise<ProviderAnswer> {
  return transport.send({
    target: {
      provider: target,
      providerModel: 'm',
      maxTokensParameter: 'max_tokens',
      retryTimeouts: true,
      forwardReasoningContent: false,
    },
    body: Buffer.from('{}'),
    stream: true,
    signal,
    onSent: () => (sent += 1),
  });
}

/** The next bytes of an answer, or its end. */
async function next(answer: ProviderAnswer): Promise<Uint8Array | 'end'> {
  for (;;) {
    const bytes = answer.poll();
    if (bytes !== 'none_yet') return bytes;
    await new Promise<void>((resolve) => answer.listen(resolve));
  }
}

async function readAll(answer: ProviderAnswer): Promise<number> {
  let length = 0;
  for (let bytes = await next(answer); bytes !== 'end'; bytes = await next(answer)) length += bytes.length;
  return length;
}

it('an answer that nobody reads stops its provider, and is whole once it is read', async () => {
  const piece = Buffer.alloc(64 * 1024, 'x');
  const pieces = 1_000;
  let stalled: () => void = () => undefined;
  const isStalled = new Promise<void>((resolve) => (stalled = resolve));
  upstream.play(async (response) => {
    response.writeHead(200);
    for (let sent = 0; sent < pieces; sent += 1) {
      if (response.write(piece)) continue;
      // Far more than sockets hold is left when nothing has been taken for a while.
      const idle = setTimeout(stalled, 200);
      await once(response, 'drain');
      clearTimeout(idle);
    }
    response.end();
  });
  const answer = await send();
  await isStalled;
  expect(await readAll(answer)).toBe(pieces * piece.length);
});

it('an answer is whole for who reads it whenever more is there, though a read lets its connection go on', async () => {
  const size = 64 * 1024;
  const pieces = Array.from({ length: 200 }, (_, index) => Buffer.alloc(size, index));
  let stalled: () => void = () => undefined;
  const isStalled = new Promise<void>((resolve) => (stalled = resolve));
  upstream.play(async (response) => {
    response.writeHead(200);
    for (const piece of pieces) {
      if (response.write(piece)) continue;
      const idle = setTimeout(stalled, 200);
      await once(response, 'drain');
      clearTimeout(idle);
    }
    response.end();
  });
  const answer = await send();
  await isStalled;
  const read: Uint8Array[] = [];
  await new Promise<void>((resolve) => {
    const readOn = () => {
      for (let bytes = answer.poll(); bytes !== 'none_yet'; bytes = answer.poll()) {
        if (bytes === 'end') return resolve();
        read.push(bytes);
      }
    };
    answer.listen(readOn);
    readOn();
  });
  expect(Buffer.concat(read).equals(Buffer.concat(pieces))).toBe(true);
});

it('a call that waits for a connection is given up at once, and never sent', async () => {
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

it('what came before a connection broke is read before the failure', async () => {
  upstream.play(async (response) => {
    response.writeHead(200).write('the beginning');
    await new Promise((resolve) => setImmediate(resolve));
    response.destroy();
  });
  const answer = await send();
  expect(String(await next(answer))).toBe('the beginning');
  await expect(next(answer)).rejects.toMatchObject({ kind: 'failed' });
});

it('the connection of an answer that is released near its end is used again, one that goes on is closed', async () => {
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
    const answer = await send();
    answer.release();
  }
  expect(sockets[1]).toBe(sockets[0]);
  expect(sockets[2]).not.toBe(sockets[1]);
});
