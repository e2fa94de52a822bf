import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { collectGarbage } from '@gateway/test-support';
import { createBodyReader } from './read-body';

const SECOND_MS = 1_000;

it.each([16, 300_000])(
  'a body of %i bytes is garbage collected while its response is open',
  async (bytes) => {
    const readBody = createBodyReader({
      maxBytes: bytes,
      maxInflightBytes: bytes,
      timeoutMs: 30 * SECOND_MS,
      chunkBytes: 64 * 1024,
    });
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const client = request({ port: (server.address() as AddressInfo).port, method: 'POST' });
    client.on('error', () => undefined).end(Buffer.alloc(bytes, 'x'));
    const [incoming, response] = (await once(server, 'request')) as Parameters<typeof readBody>;
    const references = await chunksOf(readBody(incoming, response, 'org'));
    do {
      // A socket retains its last chunk until the next one, and V8 retains objects
      // created during marking until the next cycle.
      await nextTurn();
      collectGarbage();
    } while (references.some((chunk) => chunk.deref() !== undefined));
    expect(response.closed).toBe(false);
    client.destroy();
    server.close();
  },
);

/** A separate function, so that the test's closure does not retain the chunks. */
async function chunksOf(reading: ReturnType<ReturnType<typeof createBodyReader>>) {
  const { chunks } = await reading;
  if (!Array.isArray(chunks)) throw new Error('the body was refused');
  return (chunks as readonly Uint8Array[]).map((chunk) => new WeakRef(chunk));
}
