import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { renderMetrics } from './metrics';

export interface AdminServerOptions {
  readonly host: string;
  /** 0 chooses a free port. */
  readonly port: number;
  readonly metrics: Registry;
  /** Whether this process is ready for requests. */
  readonly ready: () => boolean | Promise<boolean>;
  readonly log: Logger;
}

export interface AdminServer {
  start(): Promise<{ readonly port: number }>;
  /** Idempotent; may be called before `start`. */
  stop(): Promise<void>;
}

/** Slower requests are disconnected. */
const REQUEST_TIMEOUT_MS = 10_000;

/**
 * Endpoints for orchestrators and scrapers, on a separate, private port:
 * `/livez` (the process responds), `/readyz` (200, or 503 if not ready) and
 * `/metrics` (Prometheus text or OpenMetrics).
 */
export function createAdminServer({ host, port, metrics, ready, log }: AdminServerOptions): AdminServer {
  const server = createServer((request, response) => {
    respond(request, response).catch((error: unknown) => {
      log.error({ err: error }, 'a request to the admin server failed');
      if (!response.headersSent) plain(response, 500, 'failed');
      else response.destroy();
    });
  });
  server.requestTimeout = REQUEST_TIMEOUT_MS;
  server.headersTimeout = REQUEST_TIMEOUT_MS;

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method !== 'GET' && request.method !== 'HEAD') return plain(response, 405, 'only GET');
    switch (request.url?.split('?', 1)[0]) {
      case '/livez':
        return plain(response, 200, 'ok');
      case '/readyz':
        return (await ready()) ? plain(response, 200, 'ok') : plain(response, 503, 'not ready');
      case '/metrics': {
        const { contentType, text } = await renderMetrics(metrics, request.headers.accept);
        response.setHeader('content-type', contentType);
        response.end(text);
        return;
      }
      default:
        return plain(response, 404, 'not found');
    }
  }

  function start(): Promise<{ readonly port: number }> {
    return new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, host, () => {
        server.off('error', reject);
        server.on('error', (error) => log.error({ err: error }, 'the admin server failed'));
        resolve({ port: (server.address() as AddressInfo).port });
      });
    });
  }

  function stop(): Promise<void> {
    return new Promise((resolve) => {
      // An error only means that the server was not running.
      server.close(() => resolve());
      server.closeAllConnections();
    });
  }

  return { start, stop };
}

function plain(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' });
  response.end(`${text}\n`);
}
