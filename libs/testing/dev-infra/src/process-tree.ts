import { existsSync, readdirSync, readFileSync } from 'node:fs';

/** The processes of the PostgreSQL server that a process started. */
export interface DatabaseProcesses {
  readonly postmaster: number;
  readonly all: readonly number[];
}

/** Finds the PostgreSQL server below a process in /proc. Throws if there is none. */
export function databaseProcessesOf(ancestor: number): DatabaseProcesses {
  const all = descendantsOf(ancestor).filter((pid) => /postgres/.test(programOf(pid)));
  const [postmaster] = all;
  if (postmaster === undefined) throw new Error(`process ${ancestor} has no database process`);
  return { postmaster, all };
}

/**
 * Suspends every process of the database below `ancestor`, so that it neither responds
 * nor closes connections.
 *
 * @returns a function that resumes it
 */
export function freezeDatabaseOf(ancestor: number): () => void {
  return freeze(databaseProcessesOf(ancestor).all);
}

/** Suspends a process and its descendants. @returns a function that resumes them */
export function freezeProcesses(pid: number): () => void {
  return freeze([pid, ...descendantsOf(pid)]);
}

function freeze(pids: readonly number[]): () => void {
  for (const pid of pids) signal(pid, 'SIGSTOP');
  return () => {
    for (const pid of pids) signal(pid, 'SIGCONT');
  };
}

/** All descendants of `ancestor`, parents first; empty on systems without /proc. */
export function descendantsOf(ancestor: number): number[] {
  if (!existsSync('/proc')) return [];
  const children = new Map<number, number[]>();
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    const parent = parentOf(Number(entry));
    if (parent !== undefined) children.set(parent, [...(children.get(parent) ?? []), Number(entry)]);
  }
  const below = (pid: number): number[] =>
    (children.get(pid) ?? []).flatMap((child) => [child, ...below(child)]);
  return below(ancestor);
}

/** Whether each thread of a process has stopped; true if it has exited, and on systems without /proc. */
export function isSuspended(pid: number): boolean {
  const threads = `/proc/${pid}/task`;
  return !existsSync(threads) || readdirSync(threads).every((id) => processStat(Number(id))?.[0] === 'T');
}

/** Does nothing if it has exited. */
export function killNow(pid: number): void {
  signal(pid, 'SIGKILL');
}

function parentOf(pid: number): number | undefined {
  const parent = processStat(pid)?.[1];
  return parent === undefined ? undefined : Number(parent);
}

/** The fields of /proc/<pid>/stat after the program's name, which may contain any character; undefined if unknown. */
export function processStat(pid: number): readonly string[] | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;
  }
}

/** The first word of the command line, so that a shell that mentions the database does not match. */
function programOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')[0] ?? '';
  } catch {
    return '';
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has exited in the meantime.
  }
}
