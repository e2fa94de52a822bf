import {
  createServer,
  STATUS_CODES,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { MIN_TLS_VERSION, readTlsFiles, watchTlsFiles, type TlsFiles } from './tls-files';

/** Requests that reach no handler. */
export type UnreadableRequest =
  /** Not HTTP, or contradictory HTTP. */
  | 'malformed'
  | 'headers_too_large'
  /** The headers or the body did not arrive in time. */
  | 'overdue'
  /** CONNECT. */
  | 'tunnel';

/** A complete response, for connections without a response object. */
export interface RawResponse {
  readonly httpStatus: number;
  readonly requestId: string;
  /** JSON text. */
  readonly body: string;
}

export interface HttpServerPorts {
  readonly handle: (request: IncomingMessage, response: ServerResponse) => void;
  readonly renderUnreadable: (request: UnreadableRequest) => RawResponse;
  /** The server continues after such an error. */
  readonly onError: (error: Error) => void;
}

export interface HttpServerOptions {
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
  /** Total of all header lines of one request. */
  readonly maxHeaderBytes: number;
  /** From the first byte of a request to the end of its headers. */
  readonly headersTimeoutMs: number;
  /** From the first byte of a request to its last. */
  readonly requestTimeoutMs: number;
  /** How long an idle connection stays open; longer than the idle timeout of the load balancer in front. */
  readonly keepAliveMs: number;
  /** Maximum concurrent connections; further ones are closed immediately. Default: no limit. */
  readonly maxConnections?: number;
  /** HTTPS, TLS 1.2 or later. Renewed files are used without a restart. Default: HTTP. */
  readonly tls?: TlsFiles | undefined;
}

export interface HttpServer {
  start(): Promise<{ readonly port: number }>;
  /** Accepts no more connections and closes idle ones; resolves when the last one is closed. */
  drain(): Promise<void>;
  /** Closes all connections immediately. */
  destroy(): void;
}

interface Connection {
  /** The response to the latest request, until it closes. Earlier responses are written first. */
  latestResponse: ServerResponse | undefined;
  /** Responses to requests that arrived before the response to an earlier one was complete. */
  pipelined?: Set<ServerResponse>;
}

/**
 * Connections that may wait to be accepted, up to the kernel's `net.core.somaxconn`. Node's default
 * of 511 would reset connections when a thousand clients connect at the same time.
 */
const BACKLOG = 16_384;

/** An HTTP server whose error responses all have the format of its owner. */
export function createHttpServer(ports: HttpServerPorts, options: HttpServerOptions): HttpServer {
  // One entry per connection, not per request: a WeakMap that changes with every
  // request would retain requests until the next full garbage collection.
  const connections = new WeakMap<Duplex, Connection>();

  function onRequest(request: IncomingMessage, response: ServerResponse): void {
    let connection = connections.get(request.socket);
    if (!connection) connections.set(request.socket, (connection = { latestResponse: undefined }));
    if (connection.latestResponse) closeWithConnection(connection, request.socket, response);
    connection.latestResponse = response;
    response.once('close', () => {
      if (connection.latestResponse === response) connection.latestResponse = undefined;
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
        socket.end(serializeResponse(ports.renderUnreadable(kindOf(error.code))), () => socket.destroy());
      else socket.destroy();
    };
    const response = connections.get(socket)?.latestResponse;
    // The malformed bytes belong to the body of the latest request, or to a request after it.
    const isOwnBody = response !== undefined && !response.req.complete;
    if (!response || (isOwnBody && !response.headersSent)) return refuse();
    if (isOwnBody) {
      socket.destroy();
      return;
    }
    response.once('close', refuse);
  }

  const { server, closeTls } = createServerOf(options, ports.onError);
  // By default Node silently drops lines after the 2,000th, and with them the line that a proxy appended.
  server.maxHeadersCount = 0;
  if (options.maxConnections !== undefined) server.maxConnections = options.maxConnections;
  server.headersTimeout = options.headersTimeoutMs;
  server.requestTimeout = options.requestTimeoutMs;
  server.keepAliveTimeout = options.keepAliveMs;
  // Without this listener, Node would send "100 Continue" before the key is checked.
  server.on('checkContinue', onRequest);
  // Unknown expectations are ignored.
  server.on('checkExpectation', onRequest);
  server.on('request', onRequest);
  server.on('clientError', onClientError);
  server.on('connect', (_request: IncomingMessage, socket: Duplex) => {
    socket.end(serializeResponse(ports.renderUnreadable('tunnel')));
  });

  function start(): Promise<{ readonly port: number }> {
    return new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen(options.port, options.host, BACKLOG, () => {
        server.off('error', reject);
        // For example, too many open files: new connections fail, running requests continue.
        server.on('error', ports.onError);
        resolve({ port: (server.address() as AddressInfo).port });
      });
    });
  }

  function drain(): Promise<void> {
    closeTls();
    return new Promise((resolve) => {
      // The only error is that the server was not listening.
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

/** Node 20 does not close a response that is queued behind another one when its connection closes. */
function closeWithConnection(connection: Connection, socket: Duplex, response: ServerResponse): void {
  const pipelined = (connection.pipelined ??= newPipelined(socket));
  pipelined.add(response);
  response.once('close', () => pipelined.delete(response));
}

function newPipelined(socket: Duplex): Set<ServerResponse> {
  const pipelined = new Set<ServerResponse>();
  socket.once('close', () => {
    for (const response of pipelined) {
      if (response.socket || response.destroyed || response.writableFinished) continue;
      response.destroy();
      response.emit('close');
    }
  });
  return pipelined;
}

/** @throws Error for TLS files that are missing or do not belong together. */
function createServerOf(
  options: HttpServerOptions,
  onError: (error: Error) => void,
): { readonly server: Server; readonly closeTls: () => void } {
  const httpOptions = {
    maxHeaderSize: options.maxHeaderBytes,
    requireHostHeader: false,
    // Node's default is 30 s, independent of the timeouts.
    connectionsCheckingInterval: Math.min(options.headersTimeoutMs, options.requestTimeoutMs) / 2,
  };
  if (options.tls === undefined) return { server: createServer(httpOptions), closeTls: () => undefined };
  const identity = readTlsFiles(options.tls);
  const server = createTlsServer({
    ...httpOptions,
    ...identity,
    minVersion: MIN_TLS_VERSION,
    handshakeTimeout: options.headersTimeoutMs,
  });
  return { server, closeTls: watchTlsFiles(server, options.tls, identity, onError) };
}

/**
 * A connection opened in advance, as clients and load balancers do, that sent nothing
 * before the timeout. A response would be mistaken for the response to a request
 * that the client sends at the same moment.
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

function serializeResponse({ httpStatus, requestId, body }: RawResponse): string {
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
