import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
import { withTimeout } from '@gateway/base';
import { descendantsOf } from '@gateway/dev-infra';
import { startTime, type Cores } from './machine';

const READY_TIMEOUT_MS = 20_000;
const STOP_TIMEOUT_MS = 20_000;
/** Characters of a child's output that are kept for error messages. */
const MAX_OUTPUT_LENGTH = 64_000;

export interface Child {
  readonly pid: number;
  readonly process: ChildProcess;
  /** The end of its output. */
  output(): string;
}

/** The child processes of the bench. All are stopped whenever the bench exits. */
export class Processes {
  private readonly children = new Set<Child>();
  /** Processes started by children: pid and start time, since a pid may be reused. */
  private readonly adopted = new Map<number, string>();

  constructor(private readonly cores: Cores | undefined) {
    process.once('exit', () => this.killAll());
  }

  /** Starts `node script args…`, pinned to the cores of one side if possible. */
  start(side: keyof Cores, args: readonly string[], options: Pick<SpawnOptions, 'env' | 'cwd'> = {}): Child {
    return this.startProgram(side, process.execPath, args, options);
  }

  /** As `start`, for any program. */
  startProgram(
    side: keyof Cores,
    program: string,
    args: readonly string[],
    options: Pick<SpawnOptions, 'env' | 'cwd'> = {},
  ): Child {
    const bare = [program, ...args];
    const [command = '', ...rest] =
      this.cores === undefined ? bare : ['taskset', '-c', this.cores[side], ...bare];
    // A separate process group, so that Ctrl-C signals only the bench, which then stops its children in order.
    const spawned = spawn(command, rest, {
      ...options,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    let output = '';
    for (const stream of [spawned.stdout, spawned.stderr]) {
      stream?.setEncoding('utf8');
      stream?.on('data', (text: string) => (output = (output + text).slice(-MAX_OUTPUT_LENGTH)));
    }
    // taskset replaces itself with the program, so this is the program's pid either way.
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
          reject(new Error(`${role} exited with code ${code}: ${child.output()}`)),
        );
      }),
      READY_TIMEOUT_MS,
      `starting ${role}`,
    );
    return { ...child, port };
  }

  /** Records processes that a child has started, to kill them even if the child crashes. */
  adopt(pids: readonly number[]): void {
    for (const pid of pids) {
      const started = startTime(pid);
      if (started !== undefined) this.adopted.set(pid, started);
    }
  }

  /** The end of the running children's output, for error messages. */
  output(): string {
    return [...this.children].map((child) => child.output()).join('');
  }

  /** Sends SIGTERM to every child, and kills it after a timeout. */
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

  /** Kills a child and its descendants: PostgreSQL would outlive its parent. */
  private kill(child: Child): void {
    for (const pid of [...descendantsOf(child.pid), child.pid]) killNow(pid);
  }
}

function killNow(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has already exited.
  }
}
