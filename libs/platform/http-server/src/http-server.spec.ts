import { spawnSync } from 'node:child_process';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { createHttpServer, type HttpServer } from './http-server';

const OPTIONS = {
  host: '127.0.0.1',
  port: 0,
  maxHeaderBytes: 32 * 1024,
  headersTimeoutMs: 20_000,
  requestTimeoutMs: 20_000,
  keepAliveMs: 20_000,
};

let server: HttpServer;
let port: number;
let handle: (request: IncomingMessage, response: ServerResponse) => void;

beforeAll(async () => {
  server = createHttpServer(
    {
      handle: (request, response) => handle(request, response),
      answerUnreadable: (request) => ({
        httpStatus: 400,
        requestId: 'req_1',
        body: JSON.stringify({ request }),
      }),
      onError: () => undefined,
    },
    OPTIONS,
  );
  ({ port } = await server.start());
});
beforeEach(() => {
  handle = (_request, response) => void response.end('answered');
});
afterAll(async () => {
  const closed = server.drain();
  server.destroy();
  await closed;
});

/** Everything that comes back until the connection is closed. */
function exchange(bytes: string, to = port): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(to, '127.0.0.1', () => socket.write(bytes));
    let received = '';
    socket.on('data', (data) => (received += data.toString()));
    socket.on('error', reject);
    socket.on('close', () => resolve(received));
  });
}

const GET = 'GET / HTTP/1.1\r\nhost: x\r\n\r\n';

describe('malformed bytes behind a request on the same connection', () => {
  it('leave its answer whole, and are answered after it', async () => {
    handle = (_request, response) => void setImmediate(() => response.end('answered'));
    const received = await exchange(`${GET}nonsense\r\n\r\n`);
    expect(received.indexOf('answered')).toBeGreaterThan(0);
    expect(received.slice(received.indexOf('answered'))).toMatch(
      /^answered(\r\n)?(0\r\n\r\n)?HTTP\/1\.1 400 Bad Request\r\n.*\{"request":"malformed"\}$/s,
    );
  });

  it('leave a stream whole that is being written', async () => {
    handle = (_request, response) => {
      response.write('first ');
      setImmediate(() => response.end('last'));
    };
    const received = await exchange(`${GET}nonsense\r\n\r\n`);
    expect(received).toMatch(/first .*last.*"malformed"/s);
  });

  it('leave the answers to all requests in front of them whole', async () => {
    const received = await exchange(`${GET}${GET}${GET}nonsense\r\n\r\n`);
    expect(received.match(/answered/g)).toHaveLength(3);
    expect(received).toMatch(/"malformed"\}$/);
  });
});

it('reads every header line, however many there are', async () => {
  let read: string | string[] | undefined;
  handle = (request, response) => {
    read = request.headers['x-forwarded-for'];
    response.end();
  };
  const filler = 'a: b\r\n'.repeat(3_000);
  await exchange(
    `GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n${filler}x-forwarded-for: 192.0.2.1\r\n\r\n`,
  );
  expect(read).toBe('192.0.2.1');
});

it('answers headers that are too large, and a tunnel, with what its owner says', async () => {
  expect(await exchange(`GET / HTTP/1.1\r\nhost: x\r\na: ${'b'.repeat(70_000)}\r\n\r\n`)).toMatch(
    /\{"request":"headers_too_large"\}$/,
  );
  expect(await exchange('CONNECT a:1 HTTP/1.1\r\nhost: x\r\n\r\n')).toMatch(/\{"request":"tunnel"\}$/);
});

describe('a client that takes too long', () => {
  let hasty: HttpServer;
  let hastyPort: number;

  beforeAll(async () => {
    hasty = createHttpServer(
      {
        handle: (_request, response) => void response.end('answered'),
        answerUnreadable: (request) => ({ httpStatus: 408, requestId: 'req_1', body: request }),
        onError: () => undefined,
      },
      { ...OPTIONS, headersTimeoutMs: 40, requestTimeoutMs: 80 },
    );
    ({ port: hastyPort } = await hasty.start());
  });
  afterAll(async () => {
    const closed = hasty.drain();
    hasty.destroy();
    await closed;
  });

  it('is told so in the middle of a request', async () => {
    expect(await exchange('GET / HTTP/1.1\r\nhost: ', hastyPort)).toMatch(/^HTTP\/1.1 408 [^]*overdue$/);
  });

  it('is disconnected without a word when it has only connected', async () => {
    expect(await exchange('', hastyPort)).toBe('');
  });
});

/** Connects so many times; ends well once all of them are connected, and else when it is told to. */
const CALLERS = `
const { connect } = require('node:net');
const [port, count] = process.argv.slice(1).map(Number);
let connected = 0;
for (let index = 0; index < count; index += 1) {
  connect(port, '127.0.0.1', () => (connected += 1) === count && process.exit(0)).on('error', () => process.exit(1));
}
`;

it('a thousand callers who come while the event loop is busy all find a place to wait', () => {
  // Nothing is accepted while this thread waits for them.
  const callers = spawnSync(process.execPath, ['-e', CALLERS, String(port), '1000'], { timeout: 20_000 });
  expect(callers.status).toBe(0);
});
