import { chown, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { DatabaseLog } from '../log';
import { EmbeddedPostgresError } from './postgres-error';
import { isPostmasterOf } from './process-identity';

/** What a running server writes to `postmaster.pid` in its data directory. */
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
 * Makes way for a new server after an unclean end: stops the server that a
 * killed process left behind, and defuses a file whose process id belongs to
 * somebody else by now. The caller holds the state folder's lock, so a server
 * found here has no owner.
 */
export async function clearLeftover(dataDirectory: string, log: DatabaseLog): Promise<void> {
  const leftover = await readPostmasterFile(dataDirectory);
  if (!leftover) return;
  if (await isPostmasterOf(leftover.pid, dataDirectory)) {
    log.warn({ pid: leftover.pid }, 'stopping the PostgreSQL server that an earlier run left behind');
    await stopOrphan(leftover.pid, dataDirectory);
  }
  // Also after that: one that was killed meanwhile leaves its file.
  if (await readPostmasterFile(dataDirectory)) await defuse(dataDirectory);
}

async function stopOrphan(pid: number, dataDirectory: string): Promise<void> {
  try {
    process.kill(pid, 'SIGINT');
    if (await goneWithin(pid, dataDirectory, FAST_SHUTDOWN_MS)) return;
    // Leaves the work of recovery to the next start; no committed row is lost.
    process.kill(pid, 'SIGQUIT');
    if (await goneWithin(pid, dataDirectory, IMMEDIATE_SHUTDOWN_MS)) return;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return;
    throw new EmbeddedPostgresError(
      `the PostgreSQL server ${pid} on ${dataDirectory} belongs to another user; stop it, or start as that user`,
      { cause: error },
    );
  }
  throw new EmbeddedPostgresError(`the PostgreSQL server ${pid} on ${dataDirectory} does not stop`);
}

async function goneWithin(pid: number, dataDirectory: string, timeoutMs: number): Promise<boolean> {
  for (let waitedMs = 0; waitedMs < timeoutMs; waitedMs += POLL_MS) {
    if (!(await isPostmasterOf(pid, dataDirectory))) return true;
    await delay(POLL_MS);
  }
  return false;
}

/**
 * PostgreSQL refuses to start while the process named in the file is alive,
 * even when it is no server. It takes its own parent's id for stale, so we write
 * ours there. The rest stays: by it the new server finds out whether backends
 * of the old one are still at work.
 */
async function defuse(dataDirectory: string): Promise<void> {
  const file = join(dataDirectory, 'postmaster.pid');
  const { uid, gid } = await stat(file);
  const [, ...rest] = (await readFile(file, 'utf8')).split('\n');
  const replacement = `${file}.defused`;
  await writeFile(replacement, [String(process.pid), ...rest].join('\n'), { mode: 0o600 });
  await chown(replacement, uid, gid);
  await rename(replacement, file);
}
