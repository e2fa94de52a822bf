import { spawn, type ChildProcess } from 'node:child_process';
import { open, readFile, rename, stat } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { DatabaseLog } from '../log';
import type { Binaries } from './binaries';
import { CHILD_ENVIRONMENT } from './initialize-cluster';
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
  /** Resolves with a text for the log once the process is gone. */
  readonly exited: Promise<string>;
  /** Fast shutdown: open transactions are rolled back. Harder means follow when it takes too long. */
  stop(): Promise<void>;
}

export type StartFailure = 'port-taken' | 'predecessor-alive' | 'other';

/** The server ended before it was ready. */
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
const PROGRESS_EVERY_MS = 5_000;
/** Recovery after a crash replays at most a few checkpoints' worth of log. */
const READY_TIMEOUT_MS = 300_000;
const FAST_SHUTDOWN_MS = 15_000;
const IMMEDIATE_SHUTDOWN_MS = 5_000;
const MAX_LOG_BYTES = 10 * 1024 * 1024;
const LOG_TAIL_BYTES = 2_000;

/** Starts a server and resolves when it accepts connections. */
export async function startServerProcess(options: ServerProcessOptions): Promise<ServerProcess> {
  const { home, log } = options;
  const logStart = await rotateLog(options.logFile);
  const { child, exited } = await spawnServer(options);
  const pid = child.pid;
  if (pid === undefined) throw new ServerStartError('other', `PostgreSQL cannot be run: ${await exited}`);
  const watchdog = watchOver(pid, home, log);
  void exited.then(() => watchdog.kill('SIGKILL'));

  const stop = () => stopServer(child, exited, log);
  const ending = await Promise.race([exited, waitUntilReady(child, home.dataDirectory, log)]);
  if (ending === 'ready') return { pid, exited, stop };
  if (ending === 'timeout') await stop();
  const output = (await readFile(options.logFile)).subarray(logStart).subarray(-LOG_TAIL_BYTES).toString();
  throw new ServerStartError(judge(output), `PostgreSQL did not start (${ending}): ${output.trim()}`);
}

async function spawnServer({ home, binaries, port, logFile, settings }: ServerProcessOptions) {
  const assignments: Record<string, string> = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    fsync: 'on',
    full_page_writes: 'on',
    synchronous_commit: 'on',
    timezone: 'UTC',
    log_timezone: 'UTC',
    ...settings,
  };
  const logHandle = await open(logFile, 'a', 0o600);
  try {
    const child = spawn(
      binaries.postgres,
      [
        '-D',
        home.dataDirectory,
        '-p',
        String(port),
        ...Object.entries(assignments).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
      ],
      {
        ...home.user,
        cwd: home.dataDirectory,
        env: CHILD_ENVIRONMENT,
        stdio: ['ignore', logHandle.fd, logHandle.fd],
        // Its own session: Ctrl-C in the terminal is for us, who then stop it in our own order.
        detached: true,
      },
    );
    child.unref();
    // Listened for at once: on a busy machine a server that cannot start is gone before its log is closed here.
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
 * A shell that reads a pipe from us, which closes when we die by whatever
 * means, and then shuts the server down. Without a shell the server would be
 * left running, and the next start would stop it.
 */
function watchOver(pid: number, home: ServerHome, log: DatabaseLog): ChildProcess {
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
  watchdog.on('error', (error) => log.warn({ err: error }, 'no watchdog for PostgreSQL'));
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
    // Whoever waits has learned of its end already.
    if (child.exitCode !== null || child.signalCode !== null) return 'timeout';
    if (waitedMs > 0 && waitedMs % PROGRESS_EVERY_MS === 0) {
      log.info({ waitedMs }, 'waiting for PostgreSQL, which recovers after an unclean stop');
    }
    await delay(POLL_MS);
  }
  return 'timeout';
}

async function stopServer(child: ChildProcess, exited: Promise<string>, log: DatabaseLog): Promise<void> {
  const goneWithin = async (ms: number): Promise<boolean> => {
    const timer = new AbortController();
    const late = delay(ms, false, { signal: timer.signal }).catch(() => false);
    const gone = await Promise.race([exited.then(() => true), late]);
    timer.abort();
    return gone;
  };
  child.kill('SIGINT');
  if (await goneWithin(FAST_SHUTDOWN_MS)) return;
  log.warn({ pid: child.pid }, 'PostgreSQL is slow to stop; it will recover at the next start');
  child.kill('SIGQUIT');
  if (await goneWithin(IMMEDIATE_SHUTDOWN_MS)) return;
  child.kill('SIGKILL');
  await exited;
}

/** The server's messages are in English, since it runs in the C locale. */
function judge(output: string): StartFailure {
  if (/could not bind|could not create any TCP\/IP sockets/.test(output)) return 'port-taken';
  if (/pre-existing shared memory block/.test(output)) return 'predecessor-alive';
  return 'other';
}

/** Keeps one older log. Returns where the new output will begin. */
async function rotateLog(logFile: string): Promise<number> {
  const size = (await stat(logFile).catch(() => undefined))?.size ?? 0;
  if (size <= MAX_LOG_BYTES) return size;
  await rename(logFile, `${logFile}.old`);
  return 0;
}
