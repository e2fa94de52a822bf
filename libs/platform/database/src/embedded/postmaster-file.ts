import { chown, open, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { DatabaseLog } from '../log';
import { isPostmasterOf } from './is-postmaster';
import { pause } from './pause';
import { EmbeddedPostgresError } from './postgres-error';

/** The contents of `postmaster.pid`, which a running server writes to its data directory. */
export interface PostmasterFile {
  readonly pid: number;
  /** "starting", "ready", "stopping"; undefined while the file is being written. */
  readonly status: string | undefined;
}

const PID_LINE = 0;
const STATUS_LINE = 7;

const FAST_SHUTDOWN_MS = 20_000;
const IMMEDIATE_SHUTDOWN_MS = 10_000;
const POLL_MS = 20;

export async function readPostmasterFile(dataDirectory: string): Promise<PostmasterFile | undefined> {
  const text = await readFile(join(dataDirectory, 'postmaster.pid'), 'utf8').catch(() => undefined);
  const lines = text?.split('\n') ?? [];
  const pid = Number(lines[PID_LINE]);
  if (!Number.isSafeInteger(pid) || pid <= 0) return undefined;
  return { pid, status: lines[STATUS_LINE]?.trim() || undefined };
}

/**
 * Prepares the data directory for a new server after an unclean end: stops an
 * orphaned server, and neutralizes a stale pid file. The caller holds the state
 * folder's lock, so any running server is orphaned.
 */
export async function cleanUpPreviousServer(dataDirectory: string, log: DatabaseLog): Promise<void> {
  const previous = await readPostmasterFile(dataDirectory);
  if (!previous) return;
  if (await isPostmasterOf(previous.pid, dataDirectory)) {
    log.warn({ pid: previous.pid }, 'stopping the orphaned PostgreSQL server of an earlier run');
    await stopOrphan(previous.pid, dataDirectory);
  }
  // Checked again: if the orphan was killed meanwhile, its file remains.
  if (await readPostmasterFile(dataDirectory)) await neutralize(dataDirectory);
}

async function stopOrphan(pid: number, dataDirectory: string): Promise<void> {
  try {
    process.kill(pid, 'SIGINT');
    if (await exitsWithin(pid, dataDirectory, FAST_SHUTDOWN_MS)) return;
    // Immediate shutdown: the next start recovers. No committed row is lost.
    process.kill(pid, 'SIGQUIT');
    if (await exitsWithin(pid, dataDirectory, IMMEDIATE_SHUTDOWN_MS)) return;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return;
    throw new EmbeddedPostgresError(
      `the PostgreSQL server ${pid} on ${dataDirectory} belongs to another user; stop it, or start as that user`,
      { cause: error },
    );
  }
  throw new EmbeddedPostgresError(`the PostgreSQL server ${pid} on ${dataDirectory} does not stop`);
}

async function exitsWithin(pid: number, dataDirectory: string, timeoutMs: number): Promise<boolean> {
  for (let waitedMs = 0; waitedMs < timeoutMs; waitedMs += POLL_MS) {
    if (!(await isPostmasterOf(pid, dataDirectory))) return true;
    await pause(POLL_MS);
  }
  return false;
}

/**
 * Replaces the pid in a stale file with that of this process. PostgreSQL refuses
 * to start while a process with the pid in the file is running, even an unrelated
 * one, but ignores the pid of its parent. The rest is unchanged: it shows the new
 * server whether backends of the previous one are still running.
 */
async function neutralize(dataDirectory: string): Promise<void> {
  const file = join(dataDirectory, 'postmaster.pid');
  const { uid, gid } = await stat(file);
  const [, ...rest] = (await readFile(file, 'utf8')).split('\n');
  const replacement = `${file}.replacement`;
  await writeFile(replacement, [String(process.pid), ...rest].join('\n'), { mode: 0o600, flush: true });
  await chown(replacement, uid, gid);
  await rename(replacement, file);
  // After a crash of the machine the file must not be empty: PostgreSQL would not start.
  const folder = await open(dataDirectory, 'r');
  await folder.sync().finally(() => folder.close());
}
