import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';
import { type Duplex } from 'node:stream';
import { errorEnvelope, GatewayError } from '@gateway/errors';
import { limits } from '../../settings';

export interface PublicServerPorts {
  readonly handle: (request: IncomingMessage, response: ServerResponse) => void;
  readonly newRequestId: () => string;
  /** The server goes on after such an error. */
  readonly onError: (error: Error) => void;
}

export interface PublicServerOptions {
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  /** From the first byte of a request to the end of its headers. */
  readonly headersTimeoutMs: number;
  /** From the first byte of a request to its last; the backstop of the body reader's own limit. */
  readonly requestTimeoutMs: number;
  /** How long an idle connection is kept; longer than the idle time of the load balancer in front. */
  readonly keepAliveMs: number;
}

export interface PublicServer {
  start(): Promise<{ readonly port: number }>;
  /** Takes no more connections and closes idle ones; resolves when the last is closed. */
  drain(): Promise<void>;
  /** Closes every connection that is still open. */
  destroy(): void;
}

interface Connection {
  answering: ServerResponse | undefined;
}

/**
 * The HTTP server of the public port. What Node would answer by itself to
 * malformed HTTP is answered with the error envelope instead.
 */
export function createPublicServer(ports: PublicServerPorts, options: PublicServerOptions): PublicServer {
  // An entry per connection, not per request: a map that changes with every
  // request would keep requests alive until the next full garbage collection.
  const connections = new WeakMap<Duplex, Connection>();

  function onRequest(request: IncomingMessage, response: ServerResponse): void {
    let connection = connections.get(request.socket);
    if (!connection) connections.set(request.socket, (connection = { answering: undefined }));
    connection.answering = response;
    response.once('close', () => {
      if (connection.answering === response) connection.answering = undefined;
    });
    ports.handle(request, response);
  }

  function onClientError(error: NodeJS.ErrnoException, socket: Duplex): void {
    const headSent = connections.get(socket)?.answering?.headersSent ?? false;
    if (error.code === 'ECONNRESET' || !socket.writable || headSent) {
      socket.destroy();
      return;
    }
    socket.end(rawAnswer(malformedHttp(error.code), ports.newRequestId()), () => socket.destroy());
  }

  const server: Server = createServer({
    maxHeaderSize: limits.http.maxHeaderBytes,
    requireHostHeader: false,
  });
  server.headersTimeout = options.headersTimeoutMs;
  server.requestTimeout = options.requestTimeoutMs;
  server.keepAliveTimeout = options.keepAliveMs;
  // Without this, Node would answer "100 Continue" before the key is even looked at.
  server.on('checkContinue', onRequest);
  // An expectation that nobody knows is not one that needs to be met.
  server.on('checkExpectation', onRequest);
  server.on('request', onRequest);
  server.on('clientError', onClientError);
  server.on('connect', (_request: IncomingMessage, socket: Duplex) => {
    socket.end(rawAnswer(new GatewayError('route_not_found'), ports.newRequestId()));
  });

  function start(): Promise<{ readonly port: number }> {
    return new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen(options.port, options.host, () => {
        server.off('error', reject);
        // Such as too many open files: connections are refused, running requests go on.
        server.on('error', ports.onError);
        resolve({ port: (server.address() as AddressInfo).port });
      });
    });
  }

  function drain(): Promise<void> {
    return new Promise((resolve) => {
      // The error says only that the server was not listening.
      server.close(() => resolve());
    });
  }

  return {
    start,
    drain,
    destroy: () => server.closeAllConnections(),
  };
}

function malformedHttp(errorCode: string | undefined): GatewayError {
  switch (errorCode) {
    case 'HPE_HEADER_OVERFLOW':
      return new GatewayError('request_too_large', { message: 'The request headers are too large.' });
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new GatewayError('request_timeout', { message: 'The request did not arrive in time.' });
    default:
      return new GatewayError('invalid_request', { message: 'This is not a valid HTTP request.' });
  }
}

/** A whole answer as it goes over the wire, for where there is no response object to write to. */
function rawAnswer(error: GatewayError, requestId: string): string {
  const body = JSON.stringify(errorEnvelope(error));
  return [
    `HTTP/1.1 ${error.row.httpStatus} ${REASONS[error.row.httpStatus] ?? 'Error'}`,
    'content-type: application/json',
    'cache-control: no-store',
    'x-content-type-options: nosniff',
    `x-request-id: ${requestId}`,
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
    '',
    body,
  ].join('\r\n');
}

const REASONS: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  404: 'Not Found',
  408: 'Request Timeout',
  413: 'Payload Too Large',
};
