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
      renderUnreadable: (request) => ({
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
  handle = (_request, response) => void response.end('served');
});
afterAll(async () => {
  const closed = server.drain();
  server.destroy();
  await closed;
});

/** Everything received until the connection closes. */
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

it('closes all responses of a connection with it, also those queued behind another one', async () => {
  let closed = 0;
  const sockets: (() => void)[] = [];
  const allClosed = new Promise<void>((resolve) => {
    handle = ({ socket }, response) => {
      response.on('close', () => {
        closed += 1;
        if (closed === 3) resolve();
      });
      if (sockets.push(() => socket.destroy()) === 3) sockets[0]?.();
    };
  });
  await exchange(GET.repeat(3));
  await allClosed;
  await new Promise(setImmediate);
  expect(closed).toBe(3);
});

describe('malformed bytes after a request on the same connection', () => {
  it('do not affect its response, and get their error after it', async () => {
    handle = (_request, response) => void setImmediate(() => response.end('served'));
    const received = await exchange(`${GET}nonsense\r\n\r\n`);
    expect(received.indexOf('served')).toBeGreaterThan(0);
    expect(received.slice(received.indexOf('served'))).toMatch(
      /^served(\r\n)?(0\r\n\r\n)?HTTP\/1\.1 400 Bad Request\r\n.*\{"request":"malformed"\}$/s,
    );
  });

  it('do not interrupt a stream in progress', async () => {
    handle = (_request, response) => {
      response.write('first ');
      setImmediate(() => response.end('last'));
    };
    const received = await exchange(`${GET}nonsense\r\n\r\n`);
    expect(received).toMatch(/first .*last.*"malformed"/s);
  });

  it('do not affect the responses to any earlier requests', async () => {
    const received = await exchange(`${GET}${GET}${GET}nonsense\r\n\r\n`);
    expect(received.match(/served/g)).toHaveLength(3);
    expect(received).toMatch(/"malformed"\}$/);
  });
});

it('reads every header line, without a limit on their number', async () => {
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

it("responds to oversized headers and to CONNECT with its owner's error", async () => {
  expect(await exchange(`GET / HTTP/1.1\r\nhost: x\r\na: ${'b'.repeat(70_000)}\r\n\r\n`)).toMatch(
    /\{"request":"headers_too_large"\}$/,
  );
  expect(await exchange('CONNECT a:1 HTTP/1.1\r\nhost: x\r\n\r\n')).toMatch(/\{"request":"tunnel"\}$/);
});

describe('a client that is too slow', () => {
  let strict: HttpServer;
  let strictPort: number;

  beforeAll(async () => {
    strict = createHttpServer(
      {
        handle: (_request, response) => void response.end('served'),
        renderUnreadable: (request) => ({ httpStatus: 408, requestId: 'req_1', body: request }),
        onError: () => undefined,
      },
      { ...OPTIONS, headersTimeoutMs: 40, requestTimeoutMs: 80 },
    );
    ({ port: strictPort } = await strict.start());
  });
  afterAll(async () => {
    const closed = strict.drain();
    strict.destroy();
    await closed;
  });

  it('gets an error in the middle of a request', async () => {
    expect(await exchange('GET / HTTP/1.1\r\nhost: ', strictPort)).toMatch(/^HTTP\/1.1 408 [^]*overdue$/);
  });

  it('is disconnected without a response when it has sent nothing', async () => {
    expect(await exchange('', strictPort)).toBe('');
  });
});

/** Opens `count` connections and exits with 0 when all are connected. */
const CLIENTS = `
const { connect } = require('node:net');
const [port, count] = process.argv.slice(1).map(Number);
let connected = 0;
for (let index = 0; index < count; index += 1) {
  connect(port, '127.0.0.1', () => (connected += 1) === count && process.exit(0)).on('error', () => process.exit(1));
}
`;

it('queues a thousand connections that arrive while the event loop is blocked', () => {
  // spawnSync blocks this thread, so nothing is accepted meanwhile.
  const clients = spawnSync(process.execPath, ['-e', CLIENTS, String(port), '1000'], { timeout: 20_000 });
  expect(clients.status).toBe(0);
});
