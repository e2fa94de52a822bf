import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
import { withTimeout } from '@gateway/base';
import { descendantsOf } from '@gateway/test-support';
import { startTime, type Cores } from './machine';

const READY_TIMEOUT_MS = 20_000;
const STOP_TIMEOUT_MS = 20_000;
/** Output of a child that is kept for its obituary, in characters. */
const KEPT_OUTPUT = 64_000;

export interface Child {
  readonly pid: number;
  readonly process: ChildProcess;
  /** The end of what it printed. */
  output(): string;
}

/** Everything the bench has started; stops all of it, whichever way the bench ends. */
export class Processes {
  private readonly children = new Set<Child>();
  /** Processes of children, by pid, with the time of their start: a pid alone may be used again. */
  private readonly adopted = new Map<number, string>();

  constructor(private readonly cores: Cores | undefined) {
    process.once('exit', () => this.killAll());
  }

  /** Starts `node script args…`, pinned to one side where that is possible. */
  start(side: keyof Cores, args: readonly string[], options: Pick<SpawnOptions, 'env' | 'cwd'> = {}): Child {
    return this.startProgram(side, process.execPath, args, options);
  }

  /** Starts a program of any kind in the same way. */
  startProgram(
    side: keyof Cores,
    program: string,
    args: readonly string[],
    options: Pick<SpawnOptions, 'env' | 'cwd'> = {},
  ): Child {
    const bare = [program, ...args];
    const [command = '', ...rest] =
      this.cores === undefined ? bare : ['taskset', '-c', this.cores[side], ...bare];
    // A group of their own: on Ctrl-C the terminal speaks to the bench only, which then stops them in order.
    const spawned = spawn(command, rest, {
      ...options,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    let output = '';
    for (const stream of [spawned.stdout, spawned.stderr]) {
      stream?.setEncoding('utf8');
      stream?.on('data', (text: string) => (output = (output + text).slice(-KEPT_OUTPUT)));
    }
    // taskset replaces itself by the program, so this is the program's pid either way.
    if (spawned.pid === undefined) throw new Error(`${command} could not be started`);
    const child: Child = { pid: spawned.pid, process: spawned, output: () => output };
    this.children.add(child);
    spawned.once('exit', () => this.children.delete(child));
    return child;
  }

  /** Starts one of the bench's own roles and waits for its port. */
  async startRole(
    side: keyof Cores,
    role: string,
    args: readonly string[] = [],
  ): Promise<Child & { port: number }> {
    const child = this.start(side, [process.argv[1] ?? '', '--role', role, ...args]);
    const port = await withTimeout(
      new Promise<number>((resolve, reject) => {
        child.process.once('message', (message) => resolve((message as { port: number }).port));
        child.process.once('exit', (code) =>
          reject(new Error(`${role} ended with ${code}: ${child.output()}`)),
        );
      }),
      READY_TIMEOUT_MS,
      `starting ${role}`,
    );
    return { ...child, port };
  }

  /** Remembers what a child has started, to end it at last even if the child dies without doing so. */
  adopt(pids: readonly number[]): void {
    for (const pid of pids) {
      const started = startTime(pid);
      if (started !== undefined) this.adopted.set(pid, started);
    }
  }

  /** The end of what the running children have printed: the reason for a failure is often there. */
  output(): string {
    return [...this.children].map((child) => child.output()).join('');
  }

  /** Asks every child to end, and makes it end. */
  async stopAll(): Promise<void> {
    await Promise.all([...this.children].map((child) => this.stop(child)));
  }

  async stop(child: Child): Promise<void> {
    if (child.process.exitCode !== null || child.process.signalCode !== null) return;
    const exited = new Promise<void>((resolve) => child.process.once('exit', () => resolve()));
    child.process.kill('SIGTERM');
    await withTimeout(exited, STOP_TIMEOUT_MS, 'stopping').catch(() => this.kill(child));
  }

  private killAll(): void {
    for (const child of this.children) this.kill(child);
    for (const [pid, started] of this.adopted) if (startTime(pid) === started) killNow(pid);
  }

  /** Kills a child and what it started: PostgreSQL would outlive its parent. */
  private kill(child: Child): void {
    for (const pid of [...descendantsOf(child.pid), child.pid]) killNow(pid);
  }
}

function killNow(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}
