import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createRpcMetrics } from '@gateway/module';
import type { BoundService } from '@gateway/rpc';
import { createLocalServer, type LocalServer } from '@gateway/rpc/local';
import type { Logger, Registry } from '@gateway/runtime';
import type { Config } from '../config';
import { createEdgeWorkers, type EdgeWorkers } from './edge-workers';
import { spoolOfWorker } from './spools';

/** What of the main process workers use, known once that runs. */
export interface WorldOfWorkers {
  /** Those that are there once. */
  readonly services: readonly BoundService[];
  readonly databaseUrl: string;
  readonly emulatorUrl: string | undefined;
  readonly dashboardPort: number;
}

export interface WorkersParts {
  readonly config: Config;
  readonly log: Logger;
  readonly metrics: Registry;
}

/** What the address of a socket has room for on every system. */
const MAX_SOCKET_PATH_BYTES = 103;

/** Workers, and the socket over which they call the main process. */
export function openWorkers(
  { config, log, metrics }: WorkersParts,
  world: () => WorldOfWorkers,
): EdgeWorkers {
  const { GATEWAY_WORKERS: workers, GATEWAY_SHUTDOWN_GRACE_MS: stopGraceMs, stateDirectory } = config;
  const socket = placeSocket(stateDirectory);
  const onCallEnd = createRpcMetrics(metrics);
  let server: LocalServer | undefined;
  const edges = createEdgeWorkers({
    workers,
    stopGraceMs,
    log,
    beginningOf: (worker) => {
      const { databaseUrl, emulatorUrl, dashboardPort } = world();
      return {
        worker,
        workers,
        databaseUrl,
        emulatorUrl,
        dashboardPort,
        socketPath: socket.path,
        spoolDirectory: spoolOfWorker(stateDirectory, worker),
      };
    },
  });
  return {
    ...edges,
    async start() {
      server = createLocalServer({ services: world().services, path: socket.path, log, onCallEnd });
      await server.start();
      await edges.start();
    },
    async stop() {
      await edges.stop();
      await server?.stop();
      socket.remove();
    },
  };
}

/** In the state folder, where its path is short enough. */
function placeSocket(stateDirectory: string): { readonly path: string; readonly remove: () => void } {
  const name = 'workers.sock';
  const inState = path.join(stateDirectory, name);
  if (Buffer.byteLength(inState) <= MAX_SOCKET_PATH_BYTES) return { path: inState, remove: () => undefined };
  const folder = mkdtempSync(path.join(tmpdir(), 'gateway-'));
  return {
    path: path.join(folder, name),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
