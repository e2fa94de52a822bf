import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { type Exchange } from '../exchange';
import { createAnswerer } from './answer';

test('the head of an event stream and its first event leave together, though the head is sent by itself', async () => {
  const answerer = createAnswerer(
    {
      cors: { headersFor: () => ({}) } as unknown as Parameters<typeof createAnswerer>[0]['cors'],
      now: () => 0,
      isStopping: () => false,
    },
    { stalledReaderMs: 1_000, maxDrainBytes: 0, maxDrainMs: 0 },
  );
  const writes: number[] = [];
  const server = createServer((request, response: ServerResponse) => {
    const { socket } = response;
    const handle = socket as unknown as { _writev(chunks: unknown[], done: () => void): void };
    const writev = handle._writev.bind(socket);
    handle._writev = (chunks, done) => {
      writes.push(chunks.length);
      writev(chunks, done);
    };
    answerer.openEventStream({ request, response, requestId: 'req-1', startedAtMs: 0 } as Exchange);
    response.write(Buffer.from('data: one\n\n'));
    expect(writes).toEqual([]);
    setImmediate(() => response.end());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.write('GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
  let answer = '';
  for await (const bytes of client) answer += String(bytes);
  server.close();
  expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*\r\n\r\nb\r\ndata: one\n\n\r\n0\r\n\r\n$/);
  // Head, length of the chunk, line's end, chunk, line's end: once, by one call of the system.
  expect(writes[0]).toBe(5);
});
