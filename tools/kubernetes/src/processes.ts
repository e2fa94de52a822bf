import { spawn, type ChildProcess } from 'node:child_process';
import { appendFileSync, closeSync, openSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const TERM_MS = 8_000;
const POLL_MS = 200;

/**
 * Programs in the background, each with a log file of its own. Their process ids are in a file, so that another run
 * can end what this one left.
 */
export class Processes {
  private readonly children: ChildProcess[] = [];

  constructor(private readonly state: string) {}

  start(
    name: string,
    program: string,
    args: readonly string[],
    env: Readonly<Record<string, string>> = {},
  ): void {
    const log = openSync(this.logFile(name), 'a');
    const child = spawn(program, args, {
      // Ctrl-C is for us alone: these are ended in order.
      detached: true,
      cwd: this.state,
      env: { ...process.env, ...env },
      stdio: ['ignore', log, log],
    });
    closeSync(log);
    child.once('error', (error) => appendFileSync(this.logFile(name), `${String(error)}\n`));
    child.unref();
    this.children.push(child);
    if (child.pid !== undefined) appendFileSync(pidFile(this.state), `${child.pid} ${name}\n`);
  }

  logFile(name: string): string {
    return path.join(this.state, `${name}.log`);
  }
}

const pidFile = (state: string): string => path.join(state, 'processes');

/** Ends those of a state folder, the last that was started first; what does not end by itself is killed. */
export async function endProcesses(state: string, names: (name: string) => boolean): Promise<void> {
  const lines = readLines(pidFile(state)).reverse();
  const pids = lines
    .map((line) => line.split(' '))
    .filter(([, name = '']) => names(name))
    .map(([pid]) => Number(pid));
  for (const pid of pids) signal(pid, 'SIGTERM');
  const deadline = Date.now() + TERM_MS;
  while (pids.some((pid) => signal(pid, 0)) && Date.now() < deadline) await delay(POLL_MS);
  for (const pid of pids) signal(pid, 'SIGKILL');
}

/** @returns whether there is such a process. */
function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, name);
  } catch {
    return false;
  }
}

function readLines(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').trim().split('\n').filter(Boolean);
  } catch {
    return [];
  }
}
