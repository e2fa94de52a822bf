import { spawn, type ChildProcess } from 'node:child_process';
import { open, readFile, rename, stat } from 'node:fs/promises';
import type { DatabaseLog } from '../log';
import type { Binaries } from './binaries';
import { CHILD_ENVIRONMENT } from './initialize-cluster';
import { pause } from './pause';
import { readPostmasterFile } from './postmaster-file';
import type { ServerHome } from './server-home';

export interface ServerProcessOptions {
  readonly home: ServerHome;
  readonly binaries: Binaries;
  readonly port: number;
  readonly logFile: string;
  readonly settings: Readonly<Record<string, string>>;
  readonly log: DatabaseLog;
}

export interface ServerProcess {
  readonly pid: number;
  /** Resolves when the process has exited, with the reason for the log. */
  readonly exited: Promise<string>;
  /** Fast shutdown: open transactions are rolled back. Sends stronger signals if it takes too long. */
  stop(): Promise<void>;
}

export type StartFailure = 'port-in-use' | 'predecessor-alive' | 'other';

/** The server exited before it was ready. */
export class ServerStartError extends Error {
  override readonly name = 'ServerStartError';

  constructor(
    readonly failure: StartFailure,
    message: string,
  ) {
    super(message);
  }
}

const POLL_MS = 10;
const PROGRESS_INTERVAL_MS = 5_000;
/** Crash recovery replays the WAL of at most a few checkpoints. */
const READY_TIMEOUT_MS = 300_000;
const FAST_SHUTDOWN_MS = 15_000;
const IMMEDIATE_SHUTDOWN_MS = 5_000;
const MAX_LOG_BYTES = 10 * 1024 * 1024;
const LOG_TAIL_BYTES = 2_000;

/** Settings that `ServerProcessOptions.settings` may override. */
const DEFAULT_SETTINGS: Readonly<Record<string, string>> = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  fsync: 'on',
  full_page_writes: 'on',
  synchronous_commit: 'on',
  timezone: 'UTC',
  log_timezone: 'UTC',
};

/** Starts a server and resolves when it accepts connections. */
export async function startServerProcess(options: ServerProcessOptions): Promise<ServerProcess> {
  const { home, log } = options;
  const logStart = await rotateLog(options.logFile);
  const { child, exited } = await spawnServer(options);
  const pid = child.pid;
  if (pid === undefined) throw new ServerStartError('other', `PostgreSQL cannot be run: ${await exited}`);
  const watchdog = startWatchdog(pid, home, log);
  void exited.then(() => watchdog.kill('SIGKILL'));

  const stop = () => stopServer(child, exited, log);
  const outcome = await Promise.race([exited, waitUntilReady(child, home.dataDirectory, log)]);
  if (outcome === 'ready') return { pid, exited, stop };
  if (outcome === 'timeout') await stop();
  const output = (await readFile(options.logFile)).subarray(logStart).subarray(-LOG_TAIL_BYTES).toString();
  throw new ServerStartError(failureIn(output), `PostgreSQL did not start (${outcome}): ${output.trim()}`);
}

async function spawnServer({ home, binaries, port, logFile, settings }: ServerProcessOptions) {
  const assignments = Object.entries({ ...DEFAULT_SETTINGS, ...settings });
  const logHandle = await open(logFile, 'a', 0o600);
  try {
    const child = spawn(
      binaries.postgres,
      [
        '-D',
        home.dataDirectory,
        '-p',
        String(port),
        ...assignments.flatMap(([name, value]) => ['-c', `${name}=${value}`]),
      ],
      {
        ...home.user,
        cwd: home.dataDirectory,
        env: CHILD_ENVIRONMENT,
        stdio: ['ignore', logHandle.fd, logHandle.fd],
        // A session of its own, so that Ctrl-C in the terminal does not signal the server before this process stops it.
        detached: true,
      },
    );
    child.unref();
    // Before the next await: a server that fails immediately may exit before its log is closed below.
    const exited = new Promise<string>((resolve) => {
      child.once('exit', (code, signal) => resolve(signal ? `killed by ${signal}` : `exit code ${code}`));
      child.once('error', (error) => resolve(error.message));
    });
    return { child, exited };
  } finally {
    await logHandle.close();
  }
}

/**
 * A shell that reads from a pipe to this process. The pipe closes when this
 * process exits for any reason, and the shell then shuts the server down. If
 * there is no shell, the server keeps running, and the next start stops it.
 */
function startWatchdog(pid: number, home: ServerHome, log: DatabaseLog): ChildProcess {
  const watchdog = spawn(
    '/bin/sh',
    ['-c', 'read -r line; kill -INT "$1"', 'postgres-watchdog', String(pid)],
    {
      ...home.user,
      cwd: '/',
      env: CHILD_ENVIRONMENT,
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
    },
  );
  watchdog.on('error', (error) => log.warn({ err: error }, 'cannot start the PostgreSQL watchdog'));
  watchdog.stdin?.on('error', () => undefined);
  watchdog.unref();
  (watchdog.stdin as unknown as { unref?: () => void } | null)?.unref?.();
  return watchdog;
}

async function waitUntilReady(
  child: ChildProcess,
  dataDirectory: string,
  log: DatabaseLog,
): Promise<'ready' | 'timeout'> {
  for (let waitedMs = 0; waitedMs < READY_TIMEOUT_MS; waitedMs += POLL_MS) {
    const file = await readPostmasterFile(dataDirectory);
    if (file?.pid === child.pid && file?.status === 'ready') return 'ready';
    // The server has exited, so `exited` has already won the race.
    if (child.exitCode !== null || child.signalCode !== null) return 'timeout';
    if (waitedMs > 0 && waitedMs % PROGRESS_INTERVAL_MS === 0) {
      log.info({ waitedMs }, 'waiting for PostgreSQL to recover from an unclean shutdown');
    }
    await pause(POLL_MS);
  }
  return 'timeout';
}

async function stopServer(child: ChildProcess, exited: Promise<string>, log: DatabaseLog): Promise<void> {
  const exitsWithin = async (ms: number): Promise<boolean> => {
    const timer = new AbortController();
    const timedOut = pause(ms, timer.signal).then(() => false);
    const hasExited = await Promise.race([exited.then(() => true), timedOut]);
    timer.abort();
    return hasExited;
  };
  child.kill('SIGINT');
  if (await exitsWithin(FAST_SHUTDOWN_MS)) return;
  log.warn({ pid: child.pid }, 'PostgreSQL is slow to stop; it will recover at the next start');
  child.kill('SIGQUIT');
  if (await exitsWithin(IMMEDIATE_SHUTDOWN_MS)) return;
  child.kill('SIGKILL');
  await exited;
}

/** Matches English messages, since the server runs in the C locale. */
function failureIn(output: string): StartFailure {
  if (/could not bind|could not create any TCP\/IP sockets/.test(output)) return 'port-in-use';
  if (/pre-existing shared memory block/.test(output)) return 'predecessor-alive';
  return 'other';
}

/** Retains one older log. Returns the offset of new output. */
async function rotateLog(logFile: string): Promise<number> {
  const size = (await stat(logFile).catch(() => undefined))?.size ?? 0;
  if (size <= MAX_LOG_BYTES) return size;
  await rename(logFile, `${logFile}.old`);
  return 0;
}
