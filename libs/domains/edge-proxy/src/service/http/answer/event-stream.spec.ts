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
import { createEventStream, createKeepAlive, type EventStream, type KeepAlive } from './event-stream';

const IDLE_MS = 15_000;

describe('keep-alive comments', () => {
  let now = 0;
  const written: number[] = [];
  const response = {
    writableNeedDrain: false,
    write: () => {
      written.push(now);
      return true;
    },
  } as unknown as ServerResponse;
  const keepAlive = createKeepAlive(() => now, { idleMs: IDLE_MS });

  beforeEach(() => {
    jest.useFakeTimers();
    now = 0;
    written.length = 0;
    keepAlive.start();
  });
  afterEach(() => {
    keepAlive.stop();
    jest.useRealTimers();
  });

  function pass(ms: number): void {
    for (let passed = 0; passed < ms; passed += 10) {
      now += 10;
      jest.advanceTimersByTime(10);
    }
  }

  it('keep a silent stream from ever being silent for longer than their interval', () => {
    pass(7_130);
    const stream = createEventStream(response, keepAlive, () => now);
    const opened = now;
    pass(120_000);
    const silences = written.map((at, index) => at - (written[index - 1] ?? opened));
    expect(silences).toHaveLength(8);
    expect(Math.max(...silences)).toBeLessThanOrEqual(IDLE_MS);
    expect(Math.min(...silences)).toBeGreaterThan(IDLE_MS - 500);
    stream.close();
  });

  it('are not written into a stream that speaks', () => {
    const stream = createEventStream(response, keepAlive, () => now);
    for (let count = 0; count < 10; count += 1) {
      pass(IDLE_MS - 1_000);
      void stream.write(Buffer.from('data'));
    }
    expect(written).toHaveLength(10);
    stream.close();
  });
});

describe('a stream on its connection', () => {
  const FRAMES = [
    'data: plain\n\n',
    'data: žluťoučký 🐎\n\n',
    '',
    `data: ${'x'.repeat(100_000)}\n\n`,
    'data: [DONE]\n\n',
  ];
  const noKeepAlive: KeepAlive = {
    watch: () => () => undefined,
    start: () => undefined,
    stop: () => undefined,
  };
  const streams = new Map<string, { stream: EventStream; response: ServerResponse }>();
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
      const stream = createEventStream(response, noKeepAlive, () => 0);
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

  /** A caller that sees each byte. */
  async function open(head: string): Promise<Socket> {
    const socket = connect(port, '127.0.0.1');
    opened.push(socket);
    await once(socket, 'connect');
    socket.write(head);
    return socket;
  }

  async function writeAll({ stream, response }: Awaited<ReturnType<typeof streamOf>>) {
    for (const frame of FRAMES) await stream.write(Buffer.from(frame));
    response.end();
  }

  it('arrives as it was written, signs of several bytes and frames without any included', async () => {
    const request = requestOf({ port, host: '127.0.0.1', path: '/one' }).end();
    const [[answer]] = await Promise.all([
      once(request, 'response') as Promise<[IncomingMessage]>,
      streamOf('/one').then((stream) => writeAll(stream)),
    ]);
    await expect(text(answer)).resolves.toBe(FRAMES.join(''));
  });

  it("has the very bytes that Node's own chunks have", async () => {
    const GET = (path: string) => `GET ${path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n`;
    const [ours, nodes] = await Promise.all([open(GET('/ours')), open(GET('/nodes'))]);
    await writeAll(await streamOf('/ours'));
    const { response } = await streamOf('/nodes');
    for (const frame of FRAMES) response.write(frame);
    response.end();
    expect(await text(ours)).toBe(await text(nodes));
  });

  it('is no chunks for a caller of HTTP/1.0', async () => {
    const socket = await open('GET /old HTTP/1.0\r\n\r\n');
    await writeAll(await streamOf('/old'));
    const answer = await text(socket);
    expect(answer.slice(answer.indexOf('\r\n\r\n') + 4)).toBe(FRAMES.join(''));
  });

  it('waits behind the stream that was asked for before it on the same connection', async () => {
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

  it('waits for a reader that stands still, and goes on when it reads', async () => {
    const request = requestOf({ port, host: '127.0.0.1', path: '/slow' }).end();
    const [answer] = (await once(request, 'response')) as [IncomingMessage];
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
    const received = text(answer);
    await behind;
    expect(listeners()).toEqual(before);
    slow.response.end();
    await expect(received).resolves.toBe(written);
  });

  it('waits no longer for a reader that is gone, and takes what is written all the same', async () => {
    const socket = await open('GET /gone HTTP/1.1\r\nhost: a\r\n\r\n');
    const gone = await streamOf('/gone');
    const { behind } = fill(gone);
    socket.destroy();
    await behind;
    expect(gone.stream.write(Buffer.from('data: too late\n\n'))).toBeUndefined();
  });

  it('puts nothing into a connection that its caller is ending', async () => {
    const caller = await open('GET /ending HTTP/1.1\r\nhost: a\r\n\r\n');
    const ending = await streamOf('/ending');
    const socket = ending.response.socket!;
    const errors: unknown[] = [];
    socket.on('error', (error) => errors.push(error));
    const ended = once(socket, 'end');
    const closed = once(ending.response, 'close');
    caller.end();
    await ended;
    void ending.stream.write(Buffer.from('data: too late\n\n'));
    await closed;
    expect(errors).toEqual([]);
  });

  it('has no comment put into it while its reader is behind', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
    let now = 0;
    const keepAlive = createKeepAlive(() => now, { idleMs: IDLE_MS });
    await open('GET /silent HTTP/1.1\r\nhost: a\r\n\r\n');
    const { response } = await streamOf('/silent');
    const silent = { response, stream: createEventStream(response, keepAlive, () => now) };
    keepAlive.start();
    const { behind } = fill(silent);
    const before = response.socket?.writableLength;
    now = 10 * IDLE_MS;
    jest.advanceTimersByTime(now);
    expect(response.socket?.writableLength).toBe(before);
    keepAlive.stop();
    jest.useRealTimers();
    response.destroy();
    await behind;
  });
});
