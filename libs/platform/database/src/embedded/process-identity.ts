import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);
const PS_TIMEOUT_MS = 5_000;

/** Whether a process with this pid exists, of any user. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/**
 * Identifies a process by its start time, to distinguish it from a later process
 * with the same pid. Undefined if there is no such process or its start time
 * cannot be read.
 */
export async function processIdentity(pid: number): Promise<string | undefined> {
  if (!isAlive(pid)) return undefined;
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  if (stat === undefined) return ps(pid, 'lstart');
  // The second field is the program name in parentheses and may contain spaces; the 22nd is the start time.
  const afterName = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const bootId = await readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => '');
  return `${bootId.trim()}/${afterName[19]}`;
}

/** A column of `ps`, where there is no /proc; undefined if there is no such process. */
export async function ps(pid: number, column: 'lstart' | 'command'): Promise<string | undefined> {
  try {
    const { stdout } = await run('ps', ['-ww', '-p', String(pid), '-o', `${column}=`], {
      env: { LC_ALL: 'C', PATH: '/usr/bin:/bin' },
      timeout: PS_TIMEOUT_MS,
    });
    return stdout.trim() || undefined;
  } catch {
    return undefined;
  }
}
