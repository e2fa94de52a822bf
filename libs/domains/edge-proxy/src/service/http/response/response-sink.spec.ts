import { once } from 'node:events';
import {
  createServer,
  request as requestOf,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { isBehind, sendHead, writeChunk } from './response-sink';

describe('a stream on its connection', () => {
  const FRAMES = [
    'data: plain\n\n',
    'data: žluťoučký 🐎\n\n',
    '',
    `data: ${'x'.repeat(100_000)}\n\n`,
    'data: [DONE]\n\n',
  ];
  const streams = new Map<
    string,
    { stream: { write(body: Buffer | string): Promise<void> | undefined }; response: ServerResponse }
  >();
  let server: Server;
  let port: number;
  let opened: Socket[];

  beforeEach(async () => {
    streams.clear();
    opened = [];
    server = createServer((request, response) => {
      response.sendDate = false;
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.flushHeaders();
      const stream = { write: (body: Buffer | string) => writeChunk(response, body) };
      streams.set(request.url ?? '', { stream, response });
      server.emit('opened');
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    ({ port } = server.address() as AddressInfo);
  });
  afterEach(async () => {
    for (const socket of opened) socket.destroy();
    server.closeAllConnections();
    await once(server.close(), 'close');
  });

  async function streamOf(url: string) {
    while (!streams.has(url)) await once(server, 'opened');
    return streams.get(url)!;
  }

  /** A client that sees each byte. */
  async function open(head: string): Promise<Socket> {
    const socket = connect(port, '127.0.0.1');
    opened.push(socket);
    await once(socket, 'connect');
    socket.write(head);
    return socket;
  }

  async function writeAll({ stream, response }: Awaited<ReturnType<typeof streamOf>>) {
    for (const frame of FRAMES) {
      await stream.write(Buffer.from(frame));
      await stream.write(frame);
    }
    response.end();
  }

  /** What `writeAll` writes. */
  const WRITTEN = FRAMES.flatMap((frame) => [frame, frame]);

  it('arrives as it was written, multi-byte characters and empty frames included', async () => {
    const request = requestOf({ port, host: '127.0.0.1', path: '/one' }).end();
    const [[response]] = await Promise.all([
      once(request, 'response') as Promise<[IncomingMessage]>,
      streamOf('/one').then((stream) => writeAll(stream)),
    ]);
    await expect(text(response)).resolves.toBe(WRITTEN.join(''));
  });

  it("has the same bytes as Node's own chunks", async () => {
    const GET = (path: string) => `GET ${path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n`;
    const [ours, nodes] = await Promise.all([open(GET('/ours')), open(GET('/nodes'))]);
    await writeAll(await streamOf('/ours'));
    const { response } = await streamOf('/nodes');
    // Node 26 joins the writes of a tick into one chunk.
    for (const frame of WRITTEN) {
      response.write(frame);
      await new Promise((resolve) => setImmediate(resolve));
    }
    response.end();
    expect(await text(ours)).toBe(await text(nodes));
  });

  it('is not chunked for an HTTP/1.0 client', async () => {
    const socket = await open('GET /old HTTP/1.0\r\n\r\n');
    await writeAll(await streamOf('/old'));
    const received = await text(socket);
    expect(received.slice(received.indexOf('\r\n\r\n') + 4)).toBe(WRITTEN.join(''));
  });

  it('waits behind an earlier response of the same connection', async () => {
    const socket = await open(
      'GET /first HTTP/1.1\r\nhost: a\r\n\r\nGET /second HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n',
    );
    const [first, second] = await Promise.all([streamOf('/first'), streamOf('/second')]);
    const { behind, written } = fill(second);
    void first.stream.write(Buffer.from('data: of the first\n\n'));
    void first.stream.write(Buffer.from('data: more of the first\n\n'));
    first.response.end();
    const received = text(socket);
    await behind;
    second.response.end();
    const [, ofFirst, ofSecond] = (await received).split(/^HTTP.*$/m);
    expect(ofFirst?.match(/data: .*/g)).toEqual(['data: of the first', 'data: more of the first']);
    expect(ofSecond?.match(/data: .*/g)?.join('\n\n')).toBe(written.trimEnd());
  });

  /** Writes until the reader is behind. */
  function fill({ stream }: Awaited<ReturnType<typeof streamOf>>) {
    const frame = `data: ${'y'.repeat(65_536)}\n\n`;
    for (let count = 1; ; count += 1) {
      const behind = stream.write(Buffer.from(frame));
      if (behind) return { behind, written: frame.repeat(count) };
    }
  }

  it('waits for a reader that does not read, and continues when it does', async () => {
    const request = requestOf({ port, host: '127.0.0.1', path: '/slow' }).end();
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    const slow = await streamOf('/slow');
    const listeners = () => [
      slow.response.listenerCount('close'),
      slow.response.socket?.listenerCount('drain'),
    ];
    const before = listeners();
    const { behind, written } = fill(slow);
    let isOver = false;
    void behind.then(() => (isOver = true));
    await new Promise(setImmediate);
    expect(isOver).toBe(false);
    expect(isBehind(slow.response)).toBe(true);
    const received = text(response);
    await behind;
    expect(listeners()).toEqual(before);
    expect(isBehind(slow.response)).toBe(false);
    slow.response.end();
    await expect(received).resolves.toBe(written);
  });

  it('does not wait for a disconnected reader, and ignores later writes', async () => {
    const socket = await open('GET /gone HTTP/1.1\r\nhost: a\r\n\r\n');
    const gone = await streamOf('/gone');
    const { behind } = fill(gone);
    socket.destroy();
    await behind;
    expect(gone.stream.write(Buffer.from('data: too late\n\n'))).toBeUndefined();
  });

  it('writes nothing to a connection that its client is closing', async () => {
    const client = await open('GET /ending HTTP/1.1\r\nhost: a\r\n\r\n');
    const ending = await streamOf('/ending');
    const socket = ending.response.socket!;
    const errors: unknown[] = [];
    socket.on('error', (error) => errors.push(error));
    const ended = once(socket, 'end');
    const closed = once(ending.response, 'close');
    client.end();
    await ended;
    void ending.stream.write(Buffer.from('data: too late\n\n'));
    await closed;
    expect(errors).toEqual([]);
  });
});

it('sends the head of an event stream and its first event in one system call', async () => {
  const writes: number[] = [];
  const server = createServer((_request, response: ServerResponse) => {
    const { socket } = response;
    const handle = socket as unknown as { _writev(chunks: unknown[], done: () => void): void };
    const writev = handle._writev.bind(socket);
    handle._writev = (chunks, done) => {
      writes.push(chunks.length);
      writev(chunks, done);
    };
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    sendHead(response);
    response.write(Buffer.from('data: one\n\n'));
    expect(writes).toEqual([]);
    setImmediate(() => response.end());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.write('GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
  let received = '';
  for await (const bytes of client) received += String(bytes);
  server.close();
  expect(received).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*\r\n\r\nb\r\ndata: one\n\n\r\n0\r\n\r\n$/);
  // Head, chunk length, line end, chunk, line end.
  expect(writes[0]).toBe(5);
});
