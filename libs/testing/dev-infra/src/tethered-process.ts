import { spawn } from 'node:child_process';

/** A server of our own, which does not outlive this process. */
export interface TetheredProcess {
  readonly pid: number;
  /** Sends it a signal; nothing when it has ended. */
  signal(signal: NodeJS.Signals): void;
  /** Asks it to end, and waits until it has; kills it when it takes too long. */
  stop(): Promise<void>;
  /** Kills it, and waits until it is gone. */
  kill(): Promise<void>;
  /** The last lines that it printed, for whoever wonders why it ended. */
  lastLines(): string;
  /** Resolves when it has ended, for whatever reason. */
  readonly ended: Promise<void>;
}

export interface TetheredProcessOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly directory?: string;
  /** Told of each line that it prints. */
  readonly onLine?: (line: string) => void;
}

/** Its first line is the server's process id; it kills the server when our end of its input closes. */
const TETHER = `
  exec 3<&0
  "$@" </dev/null 3<&- &
  server=$!
  echo "$server"
  ( read -r line <&3; kill -KILL "$server" 2>/dev/null ) &
  wait "$server"`;

const STOP_PATIENCE_MS = 20_000;
const KEPT_LINES = 50;

export function startTethered(options: TetheredProcessOptions): Promise<TetheredProcess> {
  const { command, args, environment, directory, onLine } = options;
  const tether = spawn('/bin/sh', ['-c', TETHER, 'tether', command, ...args], {
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true,
    ...(environment === undefined ? {} : { env: environment }),
    ...(directory === undefined ? {} : { cwd: directory }),
  });
  tether.unref();
  tether.stdin.on('error', () => undefined);
  const lines: string[] = [];
  let running = true;

  const ended = new Promise<void>((resolve) => {
    tether.once('exit', () => {
      running = false;
      // The reader of its input is still there.
      signalGroup(tether.pid, 'SIGKILL');
      resolve();
    });
  });

  return new Promise((resolve, reject) => {
    let pid: number | undefined;
    const take = (line: string): void => {
      if (pid === undefined) {
        pid = Number(line);
        resolve(handle(pid));
        return;
      }
      lines.push(line);
      if (lines.length > KEPT_LINES) lines.shift();
      onLine?.(line);
    };
    eachLine(tether.stdout, take);
    eachLine(tether.stderr, (line) => pid !== undefined && take(line));
    tether.once('error', reject);
  });

  function handle(pid: number): TetheredProcess {
    const signal = (name: NodeJS.Signals): void => {
      if (running) signalProcess(pid, name);
    };
    const kill = async (): Promise<void> => {
      signal('SIGKILL');
      await ended;
    };
    return {
      pid,
      signal,
      kill,
      ended,
      lastLines: () => lines.join('\n'),
      stop: async () => {
        signal('SIGTERM');
        const overdue = setTimeout(() => void kill(), STOP_PATIENCE_MS);
        await ended;
        clearTimeout(overdue);
      },
    };
  }
}

function eachLine(stream: NodeJS.ReadableStream, take: (line: string) => void): void {
  let rest = '';
  stream.setEncoding('utf8');
  stream.on('data', (chunk: string) => {
    const parts = (rest + chunk).split('\n');
    rest = parts.pop() ?? '';
    for (const line of parts) take(line);
  });
}

function signalProcess(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has ended.
  }
}

function signalGroup(pid: number | undefined, name: NodeJS.Signals): void {
  if (pid !== undefined) signalProcess(-pid, name);
}
