import http, { type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One request that reached the gateway, and the head of its answer. */
export interface CountedCall {
  readonly path: string;
  readonly status: number;
  readonly requestHeaders: IncomingHttpHeaders;
  readonly responseHeaders: IncomingHttpHeaders;
}

/** Stands before the gateway and counts what a client really sends. */
export interface CountingProxy {
  /** With /v1. */
  readonly baseUrl: string;
  /** Every call since the last reset, in the order of their answers. */
  readonly calls: readonly CountedCall[];
  /** Forgets the calls, and awaits `beforeFirst` with the next call before that is passed on. */
  reset(beforeFirst?: (call: PendingCall) => Promise<void>): void;
  close(): Promise<void>;
}

export interface PendingCall {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Headers of one connection, which are not passed on when a call is made again. */
const OWN_OF_CONNECTION = new Set([
  'host',
  'connection',
  'content-length',
  'transfer-encoding',
  'accept-encoding',
]);

export async function startCountingProxy(gatewayBaseUrl: string): Promise<CountingProxy> {
  const gateway = new URL(gatewayBaseUrl);
  const calls: CountedCall[] = [];
  let before: ((call: PendingCall) => Promise<void>) | undefined;

  const forward = async (request: http.IncomingMessage, response: http.ServerResponse) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const body = Buffer.concat(pieces);
    const waitFor = before;
    before = undefined;
    await waitFor?.({
      url: new URL(request.url ?? '/', gateway).href,
      headers: passedOn(request.headers),
      body: body.toString('utf8'),
    });
    const onward = http.request(
      {
        host: gateway.hostname,
        port: gateway.port,
        method: request.method,
        path: request.url,
        headers: request.headers,
      },
      (answer) => {
        calls.push({
          path: request.url ?? '',
          status: answer.statusCode ?? 0,
          requestHeaders: request.headers,
          responseHeaders: answer.headers,
        });
        response.writeHead(answer.statusCode ?? 0, answer.headers);
        answer.pipe(response);
      },
    );
    onward.on('error', () => response.destroy());
    onward.end(body);
  };
  const server = http.createServer((request, response) => {
    forward(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}${gateway.pathname}`,
    calls,
    reset(beforeFirst) {
      calls.length = 0;
      before = beforeFirst;
    },
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

function passedOn(headers: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers)
      .filter(([name, value]) => !OWN_OF_CONNECTION.has(name) && typeof value === 'string')
      .map(([name, value]) => [name, String(value)]),
  );
}
