import { execFileSync } from 'node:child_process';
import { readFileSync, readlinkSync, realpathSync } from 'node:fs';
import os from 'node:os';
import { processStat } from '@gateway/dev-infra';

/** Linux reports CPU time in hundredths of a second, regardless of the kernel's tick rate. */
const MICROSECONDS_PER_TICK = 10_000;

/** User and system CPU time of all threads of a process, in µs; undefined if unknown. */
export function cpuMicroseconds(pid: number): number | undefined {
  const fields = processStat(pid);
  const user = Number(fields?.[11]);
  const system = Number(fields?.[12]);
  return fields === undefined ? undefined : (user + system) * MICROSECONDS_PER_TICK;
}

/** Resident memory in bytes; undefined if unknown. */
export function residentBytes(pid: number): number | undefined {
  try {
    const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return kibibytes === undefined ? undefined : Number(kibibytes) * 1024;
  } catch {
    return undefined;
  }
}

/** Whether a process runs the same Node.js binary as this one; false if unknown. */
export function isNode(pid: number): boolean {
  try {
    return readlinkSync(`/proc/${pid}/exe`) === realpathSync(process.execPath);
  } catch {
    return false;
  }
}

/** A process's start time from /proc. Together with the pid it identifies a process uniquely. */
export function startTime(pid: number): string | undefined {
  return processStat(pid)?.[19];
}

/** Cores for the measured process and for the rest of the bench. */
export interface Cores {
  /** The process that is measured. */
  readonly measured: string;
  /** Load generator, upstream and PostgreSQL. */
  readonly others: string;
}

export function findCores(): Cores | undefined {
  if (process.platform !== 'linux') return undefined;
  try {
    const text = execFileSync('taskset', ['-cp', String(process.pid)], { encoding: 'utf8' });
    const allowed = parseCoreList(text.slice(text.lastIndexOf(':') + 1).trim());
    const [first, ...rest] = allowed;
    if (first === undefined || rest.length === 0) return undefined;
    return { measured: String(first), others: rest.join(',') };
  } catch {
    return undefined;
  }
}

/** Reads `0-3,8` as [0, 1, 2, 3, 8]. */
export function parseCoreList(text: string): number[] {
  return text.split(',').flatMap((range) => {
    const [first = Number.NaN, last = first] = range.split('-').map(Number);
    return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index);
  });
}

/** Pins a running process with all its threads; ignores a process that has exited. */
export function pin(pid: number, cores: string): void {
  try {
    execFileSync('taskset', ['-acp', cores, String(pid)], { stdio: 'ignore' });
  } catch {
    // The process has exited or belongs to another user.
  }
}

export interface MachineFacts {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGiB: number;
  readonly node: string;
  readonly platform: string;
  readonly pinned: string;
}

export function machineFacts(cores: Cores | undefined): MachineFacts {
  const cpus = os.cpus();
  return {
    cpu: cpus[0]?.model ?? 'unknown',
    cores: cpus.length,
    memoryGiB: Math.round(os.totalmem() / 2 ** 30),
    node: process.version,
    platform: `${os.platform()} ${os.release()} ${os.arch()}`,
    pinned:
      cores === undefined
        ? 'no (needs taskset and two cores); all processes share the cores, so figures are unreliable'
        : `target on core ${cores.measured}; load, upstream and PostgreSQL on ${cores.others}`,
  };
}
