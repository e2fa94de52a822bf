import { spawn } from 'node:child_process';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
// Jest's global setup does not support the workspace's import aliases, so this imports by path.
// eslint-disable-next-line @nx/enforce-module-boundaries
import {
  startEmbeddedPostgres,
  type EmbeddedPostgres,
} from '../../../platform/database/src/embedded/start-embedded-postgres';

/**
 * One PostgreSQL server for all test files of a jest run. It belongs to jest's main
 * process, starts when the first test file needs it, and is removed with its folder when
 * the run ends, even after an interrupt or a kill.
 */
export interface SharedPostgres {
  /** Port on which test files request the server's URL. */
  readonly port: number;
  stop(): Promise<void>;
}

/** Durability is off for speed; tests of crash recovery start their own server. */
const SETTINGS = {
  fsync: 'off',
  full_page_writes: 'off',
  synchronous_commit: 'off',
  max_connections: '300',
};

/** When jest exits, its input closes; then it waits for the server to stop and removes the files. */
const REAPER = `
  read -r line
  home=$(cat "$1/postgres-location" 2>/dev/null) || home="$1/postgres"
  tries=0
  while [ -e "$home/data/postmaster.pid" ] && [ $tries -lt 150 ]; do sleep 0.2; tries=$((tries + 1)); done
  rm -rf "$home" "$1"`;

export async function provideSharedPostgres(): Promise<SharedPostgres> {
  let running: Promise<RunningServer> | undefined;
  const listener = createServer((socket) => {
    socket.on('error', () => undefined);
    running ??= startServer();
    running.then(
      ({ postgres }) => socket.end(JSON.stringify({ url: postgres.adminUrl })),
      (error: unknown) => socket.end(JSON.stringify({ error: String(error) })),
    );
  });
  const port = await listen(listener);
  listener.unref();
  return {
    port,
    async stop() {
      listener.close();
      await (await running?.catch(() => undefined))?.remove();
    },
  };
}

interface RunningServer {
  readonly postgres: EmbeddedPostgres;
  remove(): Promise<void>;
}

async function startServer(): Promise<RunningServer> {
  const stateDirectory = await mkdtemp(join(tmpdir(), 'gateway-test-postgres-'));
  // When tests run as root, the server runs as another user, which must enter this folder.
  await chmod(stateDirectory, 0o755);
  const reaper = spawn('/bin/sh', ['-c', REAPER, 'test-postgres-reaper', stateDirectory], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  reaper.unref();
  const ignore = () => undefined;
  const postgres = await startEmbeddedPostgres({
    stateDirectory,
    log: { debug: ignore, info: ignore, warn: ignore, error: ignore },
    settings: SETTINGS,
  });
  return {
    postgres,
    async remove() {
      await postgres.stop();
      await rm(dirname(postgres.dataDirectory), { recursive: true, force: true });
      await rm(stateDirectory, { recursive: true, force: true });
      reaper.kill('SIGKILL');
    },
  };
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
}
