import { DashboardError, type DashboardErrorCode } from '@gateway/dashboard-contract';
import { createHttpServer, type UnreadableRequest } from '@gateway/http-server';
import type { GatewayModule } from '@gateway/module';
import { newRequestId } from '@gateway/runtime';
import { createApp } from './http/app';
import type { DashboardApiPorts } from './ports';

export interface DashboardApi extends GatewayModule {
  /** The port on which it listens; 0 before `start`. */
  port(): number;
}

const SERVER_LIMITS = {
  maxHeaderBytes: 16 * 1024,
  headersTimeoutMs: 20_000,
  requestTimeoutMs: 30_000,
  keepAliveMs: 75_000,
  maxConnections: 1_000,
};
/** How long requests in progress may take to finish on `stop`. */
const STOP_GRACE_MS = 5_000;

const CODE_OF_UNREADABLE: Readonly<Record<UnreadableRequest, DashboardErrorCode>> = {
  malformed: 'malformed',
  headers_too_large: 'headers_too_large',
  overdue: 'request_timeout',
  tunnel: 'not_found',
};

/** The dashboard's HTTP API on its own port. It owns no tables and calls the domains that do. */
export function createDashboardApi(ports: DashboardApiPorts): DashboardApi {
  const { log, settings } = ports;
  const server = createHttpServer(
    {
      handle: createApp(ports),
      renderUnreadable: (request) => {
        const error = new DashboardError(CODE_OF_UNREADABLE[request]);
        return {
          httpStatus: error.row.httpStatus,
          requestId: newRequestId(),
          body: JSON.stringify(error.envelope()),
        };
      },
      onError: (error) => log.error({ err: error }, 'dashboard server error'),
    },
    { ...SERVER_LIMITS, host: settings.host, port: settings.port, tls: settings.tls },
  );
  let port = 0;
  return {
    name: 'dashboard-api',
    services: [],
    consumers: [],
    port: () => port,
    async start() {
      ({ port } = await server.start());
      log.info({ host: settings.host, port }, 'dashboard API listening');
    },
    async stop() {
      const late = setTimeout(() => server.destroy(), STOP_GRACE_MS);
      await server.drain();
      clearTimeout(late);
    },
  };
}
