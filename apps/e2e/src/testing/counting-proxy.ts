import http, { type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One request that reached the gateway, and its response's status and headers. */
export interface CountedCall {
  readonly path: string;
  readonly status: number;
  readonly requestHeaders: IncomingHttpHeaders;
  readonly responseHeaders: IncomingHttpHeaders;
}

/** A proxy in front of the gateway that records the calls a client sends. */
export interface CountingProxy {
  /** With /v1. */
  readonly baseUrl: string;
  /** Every call since the last reset, in the order of their responses. */
  readonly calls: readonly CountedCall[];
  /** Clears the calls. `beforeFirst` is awaited with the next call, before that is forwarded. */
  reset(beforeFirst?: (call: PendingCall) => Promise<void>): void;
  close(): Promise<void>;
}

export interface PendingCall {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Headers of a connection, which must not be copied to another one. */
const CONNECTION_HEADERS = new Set([
  'host',
  'connection',
  'content-length',
  'transfer-encoding',
  'accept-encoding',
]);

export async function startCountingProxy(gatewayBaseUrl: string): Promise<CountingProxy> {
  const gateway = new URL(gatewayBaseUrl);
  const calls: CountedCall[] = [];
  let beforeNext: ((call: PendingCall) => Promise<void>) | undefined;

  const forward = async (request: http.IncomingMessage, response: http.ServerResponse) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const hook = beforeNext;
    beforeNext = undefined;
    await hook?.({
      url: new URL(request.url ?? '/', gateway).href,
      headers: endToEndHeaders(request.headers),
      body: body.toString('utf8'),
    });
    const upstream = http.request(
      {
        host: gateway.hostname,
        port: gateway.port,
        method: request.method,
        path: request.url,
        headers: request.headers,
      },
      (upstreamResponse) => {
        calls.push({
          path: request.url ?? '',
          status: upstreamResponse.statusCode ?? 0,
          requestHeaders: request.headers,
          responseHeaders: upstreamResponse.headers,
        });
        response.writeHead(upstreamResponse.statusCode ?? 0, upstreamResponse.headers);
        upstreamResponse.pipe(response);
      },
    );
    upstream.on('error', () => response.destroy());
    upstream.end(body);
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
      beforeNext = beforeFirst;
    },
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

function endToEndHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers)
      .filter(([name, value]) => !CONNECTION_HEADERS.has(name) && typeof value === 'string')
      .map(([name, value]) => [name, String(value)]),
  );
}
