import {
  createServer,
  STATUS_CODES,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** Requests that reach no handler, since nobody could read them. */
export type UnreadableRequest =
  /** What came is not HTTP, or is HTTP that contradicts itself. */
  | 'malformed'
  | 'headers_too_large'
  /** The headers or the body did not arrive in time. */
  | 'overdue'
  /** CONNECT, which asks for a tunnel. */
  | 'tunnel';

/** A whole answer, for where there is no response object to write to. */
export interface BareAnswer {
  readonly httpStatus: number;
  readonly requestId: string;
  /** As JSON text. */
  readonly body: string;
}

export interface HttpServerPorts {
  readonly handle: (request: IncomingMessage, response: ServerResponse) => void;
  readonly answerUnreadable: (request: UnreadableRequest) => BareAnswer;
  /** The server goes on after such an error. */
  readonly onError: (error: Error) => void;
}

export interface HttpServerOptions {
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  /** Of all header lines of one request. */
  readonly maxHeaderBytes: number;
  /** From the first byte of a request to the end of its headers. */
  readonly headersTimeoutMs: number;
  /** From the first byte of a request to its last. */
  readonly requestTimeoutMs: number;
  /** How long an idle connection is kept; longer than the idle time of the load balancer in front. */
  readonly keepAliveMs: number;
  /** Connections at once; those beyond are closed at once. Default no limit. */
  readonly maxConnections?: number;
}

export interface HttpServer {
  start(): Promise<{ readonly port: number }>;
  /** Takes no more connections and closes idle ones; resolves when the last is closed. */
  drain(): Promise<void>;
  /** Closes whatever is left at once. */
  destroy(): void;
}

interface Connection {
  /** The response to the latest request, until it is written or given up. Those before it are written first. */
  answering: ServerResponse | undefined;
}

/**
 * Connections that may wait to be accepted; the kernel allows as many of them as it is set to
 * (`net.core.somaxconn`). Node's own 511 would reset those of a thousand callers who come in one moment.
 */
const BACKLOG = 16_384;

/** An HTTP server whose every answer has the shape of its owner's. */
export function createHttpServer(ports: HttpServerPorts, options: HttpServerOptions): HttpServer {
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
    if (error.code === 'ECONNRESET' || !socket.writable || hasOnlyConnected(error, socket)) {
      socket.destroy();
      return;
    }
    const refuse = () => {
      if (socket.writable)
        socket.end(rawAnswer(ports.answerUnreadable(kindOf(error.code))), () => socket.destroy());
      else socket.destroy();
    };
    const answering = connections.get(socket)?.answering;
    // The fault is of the request that is being read: its own body, or one behind it.
    const isOwnBody = answering !== undefined && !answering.req.complete;
    if (!answering || (isOwnBody && !answering.headersSent)) return refuse();
    if (isOwnBody) {
      socket.destroy();
      return;
    }
    answering.once('close', refuse);
  }

  const server: Server = createServer({
    maxHeaderSize: options.maxHeaderBytes,
    requireHostHeader: false,
    // Node looks every thirty seconds otherwise, whatever the timeouts.
    connectionsCheckingInterval: Math.min(options.headersTimeoutMs, options.requestTimeoutMs) / 2,
  });
  // Lines beyond a number would be dropped in silence, and the last one is the proxy's own.
  server.maxHeadersCount = 0;
  if (options.maxConnections !== undefined) server.maxConnections = options.maxConnections;
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
    socket.end(rawAnswer(ports.answerUnreadable('tunnel')));
  });

  function start(): Promise<{ readonly port: number }> {
    return new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen(options.port, options.host, BACKLOG, () => {
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
      server.closeIdleConnections();
    });
  }

  return {
    start,
    drain,
    destroy: () => server.closeAllConnections(),
  };
}

/**
 * A connection that was opened ahead of need, as clients and balancers do, and
 * has waited for too long. An answer to nothing would be taken for that of the
 * request which is on its way at this very moment.
 */
function hasOnlyConnected({ code }: NodeJS.ErrnoException, socket: Duplex): boolean {
  return code === 'ERR_HTTP_REQUEST_TIMEOUT' && (socket as Socket).bytesRead === 0;
}

function kindOf(errorCode: string | undefined): UnreadableRequest {
  switch (errorCode) {
    case 'HPE_HEADER_OVERFLOW':
      return 'headers_too_large';
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return 'overdue';
    default:
      return 'malformed';
  }
}

function rawAnswer({ httpStatus, requestId, body }: BareAnswer): string {
  return [
    `HTTP/1.1 ${httpStatus} ${STATUS_CODES[httpStatus] ?? 'Error'}`,
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
