import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { renderMetrics } from './metrics';

export interface AdminServerOptions {
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  readonly metrics: Registry;
  /** Whether this process should be sent requests. */
  readonly ready: () => boolean | Promise<boolean>;
  readonly log: Logger;
}

export interface AdminServer {
  start(): Promise<{ readonly port: number }>;
  /** Safe to call twice, and before start. */
  stop(): Promise<void>;
}

/** A scraper that sends its request this slowly is let go. */
const REQUEST_TIMEOUT_MS = 10_000;

/**
 * What orchestrators and scrapers ask, on a port of its own that is not public:
 * `/livez` (the process answers), `/readyz` (200, or 503 while it should get no
 * requests), `/metrics` (Prometheus text, or OpenMetrics).
 */
export function createAdminServer({ host, port, metrics, ready, log }: AdminServerOptions): AdminServer {
  const server = createServer((request, response) => {
    respond(request, response).catch((error: unknown) => {
      log.error({ err: error }, 'the admin server could not answer');
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
      // It reports an error only when it was not running, which is what is asked for.
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
