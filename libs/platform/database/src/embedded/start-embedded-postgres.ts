import { mkdir, readFile, realpath, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { DatabaseLog } from '../log';
import { APPLICATION_ROLE, DATABASE, ensureApplicationRole } from './application-role';
import { findBinaries } from './binaries';
import { findFreePort } from './free-port';
import { initializeCluster, readOrCreatePassword, SUPERUSER } from './initialize-cluster';
import { EmbeddedPostgresError } from './postgres-error';
import { clearLeftover } from './postmaster-file';
import { openServerHome, type ServerHome } from './server-home';
import {
  ServerStartError,
  startServerProcess,
  type ServerProcess,
  type ServerProcessOptions,
  type StartFailure,
} from './server-process';
import { lockStateFolder } from './state-lock';

export interface EmbeddedPostgresOptions {
  /** Holds the password, the server's log and, where the server's user may enter it, the data. */
  readonly stateDirectory: string;
  readonly log: DatabaseLog;
  /** Tried first; when it is taken another one is used. Default: the one of the last run. */
  readonly port?: number;
  /** Server settings beside ours, such as `max_connections`. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Where data may go when the state folder is closed to the server's user. */
  readonly outsideDirectories?: readonly string[];
  /** The npm package with the programs; for tests. */
  readonly packageDirectory?: string;
}

export interface EmbeddedPostgres {
  /**
   * The application's own database, as a role that owns it and is no superuser. With its password: never log it.
   * Stays the same for as long as this object lives.
   */
  readonly url: string;
  /** The same database as its superuser, for whoever repairs or tests the server itself. */
  readonly adminUrl: string;
  readonly port: number;
  readonly dataDirectory: string;
  /** The server's main process now. */
  readonly pid: number;
  /** Rejects when the server died and could not be started again; otherwise stays open until `stop`. */
  readonly stopped: Promise<void>;
  /** Fast shutdown, then the lock is released. Safe to call twice; takes a bounded time. */
  stop(): Promise<void>;
}

const MAX_PORT_ATTEMPTS = 10;
const MAX_START_ATTEMPTS = 60;
const PREDECESSOR_WAIT_MS = 500;
const MAX_RESTARTS = 5;
/** A server that was up for this long has got over what it died of before. */
const RECOVERED_AFTER_MS = 60_000;
/** Times the deaths so far: what keeps a server from starting may pass. */
const FAILED_RESTART_WAIT_MS = 500;

/**
 * Starts a PostgreSQL server of our own on the state folder, creating its data
 * at the first start, and keeps it running: a server that dies is started again
 * on the same port. It listens on 127.0.0.1 only and asks for a password.
 * Whatever an earlier run left behind, killed or not, is cleared up first.
 *
 * @throws EmbeddedPostgresError with a remedy, also when another process runs
 *   the server of this folder.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  await mkdir(options.stateDirectory, { recursive: true });
  const stateDirectory = await realpath(options.stateDirectory);
  const lock = await lockStateFolder(stateDirectory);
  try {
    const { password, home, launch } = await prepare(stateDirectory, options);
    const portFile = join(stateDirectory, 'postgres-port');
    const preferred = options.port ?? (Number(await readFile(portFile, 'utf8').catch(() => '')) || undefined);
    const { server, port } = await launchOnFreePort(launch, preferred);
    await writeFile(portFile, `${port}\n`, { mode: 0o600 });
    const urlOf = (role: string, secret: string, database: string) =>
      `postgresql://${role}:${secret}@127.0.0.1:${port}/${database}`;
    const adminUrlOf = (database: string) => urlOf(SUPERUSER, password, database);
    const applicationPassword = await readOrCreatePassword(stateDirectory, 'postgres-application-password');
    try {
      await ensureApplicationRole(adminUrlOf, applicationPassword);
    } catch (error) {
      await server.stop();
      throw error;
    }
    options.log.info({ port, dataDirectory: home.dataDirectory }, 'PostgreSQL is running');
    // The port was ours a moment ago and is in the URL: wait for it.
    const relaunch = (over: AbortSignal) =>
      launchPatiently(launch, port, ['predecessor-alive', 'port-taken'], over);
    const supervised = supervise(server, relaunch, options.log);
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
      stop: () => (stopping ??= supervised.stop().finally(() => lock.release())),
    };
  } catch (error) {
    await lock.release();
    throw error instanceof ServerStartError
      ? new EmbeddedPostgresError(error.message, { cause: error })
      : error;
  }
}

type Launch = (port: number) => Promise<ServerProcess>;

async function prepare(
  stateDirectory: string,
  options: EmbeddedPostgresOptions,
): Promise<{ password: string; home: ServerHome; launch: Launch }> {
  const { log } = options;
  const home = await openServerHome(stateDirectory, log, options.outsideDirectories);
  const binaries = await findBinaries(home, log, options.packageDirectory);
  const password = await readOrCreatePassword(stateDirectory);
  await initializeCluster(home, binaries, password, log);
  const common: Omit<ServerProcessOptions, 'port'> = {
    home,
    binaries,
    logFile: join(stateDirectory, 'postgres.log'),
    settings: options.settings ?? {},
    log,
  };
  const launch: Launch = async (port) => {
    await clearLeftover(home.dataDirectory, log);
    return startServerProcess({ ...common, port });
  };
  return { password, home, launch };
}

async function launchOnFreePort(launch: Launch, preferred: number | undefined) {
  for (let attempt = 1; ; attempt += 1) {
    const port = await findFreePort(attempt === 1 ? preferred : undefined);
    try {
      return { server: await launchPatiently(launch, port), port };
    } catch (error) {
      const taken = error instanceof ServerStartError && error.failure === 'port-taken';
      if (!taken || attempt >= MAX_PORT_ATTEMPTS) throw error;
    }
  }
}

/** Backends of a killed server need a moment to notice; until then a new one refuses to start. */
async function launchPatiently(
  launch: Launch,
  port: number,
  patience: readonly StartFailure[] = ['predecessor-alive'],
  /** Ends the patience: whoever stops waits for nothing that comes later. */
  over?: AbortSignal,
): Promise<ServerProcess> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await launch(port);
    } catch (error) {
      const waits = error instanceof ServerStartError && patience.includes(error.failure);
      if (!waits || attempt >= MAX_START_ATTEMPTS || over?.aborted) throw error;
      await pause(PREDECESSOR_WAIT_MS, over);
    }
  }
}

async function pause(ms: number, over: AbortSignal | undefined): Promise<void> {
  await delay(ms, undefined, over ? { signal: over } : {}).catch(() => undefined);
}

interface Supervised {
  readonly pid: number;
  readonly stopped: Promise<void>;
  stop(): Promise<void>;
}

/** Starts the server again whenever it dies, unless it does so too often. A start that fails is a death, too. */
function supervise(
  first: ServerProcess,
  restart: (over: AbortSignal) => Promise<ServerProcess>,
  log: DatabaseLog,
): Supervised {
  let server = first;
  const over = new AbortController();

  async function run(): Promise<void> {
    let upSince: number | undefined = performance.now();
    let deaths = 0;
    for (let ending = await server.exited; !over.signal.aborted;) {
      // Not how many in a minute: on a busy machine a few starts take longer than that.
      const hadRecovered = upSince !== undefined && performance.now() - upSince >= RECOVERED_AFTER_MS;
      deaths = hadRecovered ? 1 : deaths + 1;
      upSince = undefined;
      log.error({ ending }, 'PostgreSQL ended unexpectedly; starting it again');
      if (deaths > MAX_RESTARTS) {
        throw new EmbeddedPostgresError(
          `PostgreSQL ended ${deaths} times and was never up for a minute, at last with: ${ending}`,
        );
      }
      try {
        server = await restart(over.signal);
      } catch (error) {
        ending = error instanceof Error ? error.message : String(error);
        await pause(deaths * FAILED_RESTART_WAIT_MS, over.signal);
        continue;
      }
      upSince = performance.now();
      if (over.signal.aborted) await server.stop();
      else log.info({ pid: server.pid }, 'PostgreSQL is running again');
      ending = await server.exited;
    }
  }

  const stopped = run();
  stopped.catch((error: unknown) => log.error({ err: error }, 'PostgreSQL is gone for good'));
  return {
    get pid() {
      return server.pid;
    },
    stopped,
    async stop() {
      over.abort();
      await server.stop();
      // A restart under way still brings up a server, and stops it then.
      await stopped.catch(() => undefined);
    },
  };
}
