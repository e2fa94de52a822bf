import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type GatewayModule } from '@gateway/module';

import { createApp } from './http/app';
import type { DashboardApiPorts } from './ports';

export interface DashboardApi extends GatewayModule {
  /** The port that it listens on; known after `start`. */
  port(): number;
}

const REQUEST_TIMEOUT_MS = 30_000;
const MAX_CONNECTIONS = 1_000;
/** How long requests that run may take to finish on `stop`. */
const STOP_GRACE_MS = 5_000;

/** The dashboard's HTTP API on a port of its own. Has no tables: everything is asked of the domains that own it. */
export function createDashboardApi(ports: DashboardApiPorts): DashboardApi {
  const server = createServer({ requestTimeout: REQUEST_TIMEOUT_MS }, createApp(ports));
  server.maxConnections = MAX_CONNECTIONS;
  const { host, port } = ports.settings;
  const portOf = (): number => (server.address() as AddressInfo | null)?.port ?? 0;
  return {
    name: 'dashboard-api',
    services: [],
    consumers: [],
    port: portOf,
    async start() {
      await listen(server, host, port);
      ports.log.info({ host, port: portOf() }, 'the dashboard API is listening');
    },
    async stop() {
      if (!server.listening) return;
      await close(server);
    },
  };
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => server.closeAllConnections(), STOP_GRACE_MS);
    server.close(() => {
      clearTimeout(timer);
      resolve();
    });
    server.closeIdleConnections();
  });
}
