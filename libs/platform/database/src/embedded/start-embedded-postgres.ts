import { mkdir, readFile, realpath, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { DatabaseLog } from '../log';
import { APPLICATION_ROLE, DATABASE, ensureApplicationRole } from './application-role';
import { lockFolder } from './folder-lock';
import { initializeCluster, readOrCreatePassword, SUPERUSER } from './initialize-cluster';
import { launchOnFreePort, launchWithRetries, type LaunchServer } from './launch-server';
import { EmbeddedPostgresError } from './postgres-error';
import { cleanUpPreviousServer } from './postmaster-file';
import { prepareServer } from './prepare-server';
import { ServerStartError, startServerProcess } from './server-process';
import { superviseServer } from './supervise-server';

export interface EmbeddedPostgresOptions {
  /** Contains the passwords, the server's log and, if the server's user can enter it, the data. */
  readonly stateDirectory: string;
  readonly log: DatabaseLog;
  /** The preferred port; another one is used if it is in use. Default: the port of the last run. */
  readonly port?: number;
  /** Additional server settings, such as `max_connections`. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Parent folders for the data if the server's user cannot enter the state folder. */
  readonly outsideDirectories?: readonly string[];
  /** The npm package with the programs; for tests. */
  readonly packageDirectory?: string;
}

export interface EmbeddedPostgres {
  /**
   * The application's database, with a role that owns it and is no superuser. Contains the password: never log it.
   * Does not change while the server runs.
   */
  readonly url: string;
  /** The same database with the superuser, to repair or test the server itself. */
  readonly adminUrl: string;
  readonly port: number;
  readonly dataDirectory: string;
  /** The pid of the current server process. */
  readonly pid: number;
  /** Rejects if the server exited and could not be restarted; otherwise resolves after `stop`. */
  readonly stopped: Promise<void>;
  /** Fast shutdown, then releases the lock. Idempotent; takes a bounded time. */
  stop(): Promise<void>;
}

/**
 * Starts a PostgreSQL server on the state folder and restarts it on the same port
 * whenever it exits. Creates the database at the first start. The server listens
 * on 127.0.0.1 only and requires a password. Remains of an earlier run, such as a
 * running server or a stale lock, are cleaned up first.
 *
 * @throws EmbeddedPostgresError with a remedy; FolderLockedError if another process
 *   runs the server of this folder.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  await mkdir(options.stateDirectory, { recursive: true });
  const stateDirectory = await realpath(options.stateDirectory);
  const lock = await lockFolder(stateDirectory, 'postgres.lock');
  try {
    return await startLocked(stateDirectory, options, () => lock.release());
  } catch (error) {
    await lock.release();
    throw error instanceof ServerStartError
      ? new EmbeddedPostgresError(error.message, { cause: error })
      : error;
  }
}

async function startLocked(
  stateDirectory: string,
  options: EmbeddedPostgresOptions,
  unlock: () => Promise<void>,
): Promise<EmbeddedPostgres> {
  const { log } = options;
  const { home, binaries, password } = await prepareServer({ ...options, stateDirectory });
  const applicationPassword = await readOrCreatePassword(stateDirectory, 'postgres-application-password');
  await initializeCluster(home, binaries, password, log);

  const logFile = join(stateDirectory, 'postgres.log');
  const launch: LaunchServer = async (port) => {
    await cleanUpPreviousServer(home.dataDirectory, log);
    return startServerProcess({ home, binaries, port, logFile, settings: options.settings ?? {}, log });
  };
  const portFile = join(stateDirectory, 'postgres-port');
  const { server, port } = await launchOnFreePort(launch, options.port ?? (await readPort(portFile)));
  await writeFile(portFile, `${port}\n`, { mode: 0o600 });

  const urlOf = (role: string, secret: string, database: string) =>
    `postgresql://${role}:${secret}@127.0.0.1:${port}/${database}`;
  const adminUrlOf = (database: string) => urlOf(SUPERUSER, password, database);
  try {
    await ensureApplicationRole(adminUrlOf, applicationPassword);
  } catch (error) {
    await server.stop();
    throw error;
  }
  log.info({ port, dataDirectory: home.dataDirectory }, 'PostgreSQL is running');

  // The URL contains the port, so a restart waits until the port is free.
  const restart = (signal: AbortSignal) =>
    launchWithRetries(launch, port, { retryOn: ['predecessor-alive', 'port-in-use'], signal });
  const supervised = superviseServer(server, restart, log);
  let stopping: Promise<void> | undefined;
  return {
    url: urlOf(APPLICATION_ROLE, applicationPassword, DATABASE),
    adminUrl: adminUrlOf(DATABASE),
    port,
    dataDirectory: home.dataDirectory,
    get pid() {
      return supervised.pid;
    },
    stopped: supervised.stopped,
    stop: () => (stopping ??= supervised.stop().finally(unlock)),
  };
}

async function readPort(file: string): Promise<number | undefined> {
  return Number(await readFile(file, 'utf8').catch(() => '')) || undefined;
}
