import { spawn } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { isSuspended } from './process-tree';

/** A child process that does not outlive this process. */
export interface TetheredProcess {
  readonly pid: number;
  /** Sends it a signal; does nothing if it has exited. */
  signal(signal: NodeJS.Signals): void;
  /** Suspends it, and waits until its last thread has stopped. */
  pause(): Promise<void>;
  resume(): void;
  /** Sends SIGTERM and waits for the exit; kills the process after a timeout. */
  stop(): Promise<void>;
  /** Kills it and waits for the exit. */
  kill(): Promise<void>;
  /** The last lines that it printed, for error messages. */
  lastLines(): string;
  /** Resolves when it has exited, for any reason. */
  readonly exited: Promise<void>;
}

export interface TetheredProcessOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly directory?: string;
  /** Runs it as another user. */
  readonly user?: { readonly uid: number; readonly gid: number } | undefined;
  /** Called with each line that it prints. */
  readonly onLine?: (line: string) => void;
}

/** Prints the server's process id first; kills the server when this process closes the tether's standard input. */
const TETHER = `
  exec 3<&0
  "$@" </dev/null 3<&- &
  server=$!
  echo "$server"
  ( read -r line <&3; kill -KILL "$server" 2>/dev/null ) &
  wait "$server"`;

const STOP_TIMEOUT_MS = 20_000;
const POLL_MS = 10;
const MAX_LAST_LINES = 50;

export function startTethered(options: TetheredProcessOptions): Promise<TetheredProcess> {
  const { command, args, environment, directory, user, onLine } = options;
  const tether = spawn('/bin/sh', ['-c', TETHER, 'tether', command, ...args], {
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true,
    env: environment,
    cwd: directory,
    ...user,
  });
  tether.unref();
  tether.stdin.on('error', () => undefined);
  const lines: string[] = [];
  let running = true;

  const exited = new Promise<void>((resolve) => {
    tether.once('exit', () => {
      running = false;
      // The subshell that reads the input is still running.
      signalGroup(tether.pid, 'SIGKILL');
      resolve();
    });
  });

  return new Promise((resolve, reject) => {
    let pid: number | undefined;
    const onPrinted = (line: string): void => {
      if (pid === undefined) {
        pid = Number(line);
        resolve(handle(pid));
        return;
      }
      lines.push(line);
      if (lines.length > MAX_LAST_LINES) lines.shift();
      onLine?.(line);
    };
    eachLine(tether.stdout, onPrinted);
    eachLine(tether.stderr, (line) => pid !== undefined && onPrinted(line));
    tether.once('error', reject);
  });

  function handle(pid: number): TetheredProcess {
    const signal = (name: NodeJS.Signals): void => {
      if (running) signalProcess(pid, name);
    };
    const kill = async (): Promise<void> => {
      signal('SIGKILL');
      await exited;
    };
    return {
      pid,
      signal,
      pause: async () => {
        signal('SIGSTOP');
        while (running && !isSuspended(pid)) await delay(POLL_MS);
      },
      resume: () => signal('SIGCONT'),
      kill,
      exited,
      lastLines: () => lines.join('\n'),
      stop: async () => {
        signal('SIGTERM');
        const overdue = setTimeout(() => void kill(), STOP_TIMEOUT_MS);
        await exited;
        clearTimeout(overdue);
      },
    };
  }
}

function eachLine(stream: NodeJS.ReadableStream, onLine: (line: string) => void): void {
  let rest = '';
  stream.setEncoding('utf8');
  stream.on('data', (chunk: string) => {
    const parts = (rest + chunk).split('\n');
    rest = parts.pop() ?? '';
    for (const line of parts) onLine(line);
  });
}

function signalProcess(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has exited.
  }
}

function signalGroup(pid: number | undefined, name: NodeJS.Signals): void {
  if (pid !== undefined) signalProcess(-pid, name);
}
