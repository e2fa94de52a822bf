import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Client } from 'pg';
// Jest's global setup does not support the workspace's import aliases, so this imports by path.
/* eslint-disable @nx/enforce-module-boundaries */
import { findFreePort } from '../../../platform/database/src/embedded/free-port';
import { startEmbeddedPostgres } from '../../../platform/database/src/embedded/start-embedded-postgres';
/* eslint-enable @nx/enforce-module-boundaries */
import { containerHost, startContainer } from './container';
import { ENGINE_IMAGES, runsInDocker } from './test-engines';

export interface PostgresServer {
  /** With the superuser. */
  readonly url: string;
  /** Removes the server with its data. */
  stop(): Promise<void>;
}

export interface PostgresServerOptions {
  /** As in postgresql.conf. */
  readonly settings?: Readonly<Record<string, string>>;
}

/**
 * Starts an empty PostgreSQL server: in Docker where it responds, else the binaries of
 * `@gateway/database`, which are always installed.
 */
export function startPostgres(options: PostgresServerOptions = {}): Promise<PostgresServer> {
  return runsInDocker('postgres') ? startPostgresContainer(options) : startLocalPostgres(options);
}

const PORT = 5432;

export async function startPostgresContainer({
  settings = {},
}: PostgresServerOptions = {}): Promise<PostgresServer> {
  const [host, port] = [await containerHost(), await findFreePort()];
  const password = randomBytes(16).toString('hex');
  const url = `postgresql://postgres:${password}@${host}:${port}/postgres`;
  const { stop } = await startContainer({
    image: ENGINE_IMAGES.postgres,
    environment: { POSTGRES_PASSWORD: password },
    command: ['postgres', ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])],
    port: { container: PORT, host: port },
    isReady: () => isResponding(url),
  });
  return { url, stop };
}

const CONNECT_TIMEOUT_MS = 2_000;

async function isResponding(url: string): Promise<boolean> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('select 1');
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** When this process exits, its input closes; then it waits for the server to stop and removes the files. */
const REAPER = `
  read -r line
  home=$(cat "$1/postgres-location" 2>/dev/null) || home="$1/postgres"
  tries=0
  while [ -e "$home/data/postmaster.pid" ] && [ $tries -lt 150 ]; do sleep 0.2; tries=$((tries + 1)); done
  rm -rf "$home" "$1"`;

export async function startLocalPostgres({
  settings = {},
}: PostgresServerOptions = {}): Promise<PostgresServer> {
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
    settings,
  });
  return {
    url: postgres.adminUrl,
    async stop() {
      await postgres.stop();
      await rm(dirname(postgres.dataDirectory), { recursive: true, force: true });
      await rm(stateDirectory, { recursive: true, force: true });
      reaper.kill('SIGKILL');
    },
  };
}
