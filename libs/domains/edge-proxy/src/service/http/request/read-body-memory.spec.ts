import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { collectGarbage } from '@gateway/test-support';
import { createBodyReader } from './read-body';

const SECOND_MS = 1_000;

it.each([16, 300_000])('a body of %i bytes is out of memory while its answer is open', async (bytes) => {
  const readBody = createBodyReader({
    maxBytes: bytes,
    maxInflightBytes: bytes,
    timeoutMs: 30 * SECOND_MS,
    pieceBytes: 64 * 1024,
  });
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = request({ port: (server.address() as AddressInfo).port, method: 'POST' });
  client.on('error', () => undefined).end(Buffer.alloc(bytes, 'x'));
  const [incoming, response] = (await once(server, 'request')) as Parameters<typeof readBody>;
  const kept = await piecesOf(readBody(incoming, response));
  do {
    // The last chunk of a socket is let go of when a later one has come, and what
    // was made while V8 already marked is taken for alive until it marks again.
    await nextTurn();
    collectGarbage();
  } while (kept.some((piece) => piece.deref() !== undefined));
  expect(response.closed).toBe(false);
  client.destroy();
  server.close();
});

/** In a function of its own, so that nothing of the test keeps them. */
async function piecesOf(reading: ReturnType<ReturnType<typeof createBodyReader>>) {
  const { pieces } = await reading;
  if (!Array.isArray(pieces)) throw new Error('the body was refused');
  return (pieces as readonly Uint8Array[]).map((piece) => new WeakRef(piece));
}
