import { randomUUID } from 'node:crypto';
import { link, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isAlive, processIdentity } from './process-identity';

export interface FolderLock {
  release(): Promise<void>;
}

/** A running process uses the folder. */
export class FolderLockedError extends Error {
  override readonly name = 'FolderLockedError';
}

interface Holder {
  readonly pid: number;
  /** Distinguishes the holder from a later process with the same pid. */
  readonly identity: string | undefined;
  readonly nonce: string;
}

const MAX_ATTEMPTS = 5;

/** The nonces of this process's locks. */
const ownNonces = new Set<string>();

/**
 * Locks a folder by a file in it, so that only this process uses the folder. A lock
 * whose holder has exited is stale and replaced.
 *
 * @throws FolderLockedError if a running process holds the lock, even this one.
 */
export async function lockFolder(folder: string, fileName: string): Promise<FolderLock> {
  const lockFile = join(folder, fileName);
  const self: Holder = {
    pid: process.pid,
    identity: await processIdentity(process.pid),
    nonce: randomUUID(),
  };
  const ownFile = `${lockFile}.${self.nonce}`;
  await writeFile(ownFile, JSON.stringify(self), { mode: 0o600 });
  try {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      if (await tryLock(ownFile, lockFile, self)) {
        ownNonces.add(self.nonce);
        return { release: () => release(lockFile, self) };
      }
      const holder = await readHolder(lockFile);
      if (holder && (await isRunning(holder))) throw lockedBy(holder, folder);
      await removeStaleLock(lockFile, holder, `${ownFile}.stale`);
    }
  } finally {
    await rm(ownFile, { force: true });
  }
  throw new FolderLockedError(`could not lock ${folder}: other processes are starting there too`);
}

/** Creating a hard link is atomic, so only one process succeeds. */
async function tryLock(ownFile: string, lockFile: string, self: Holder): Promise<boolean> {
  try {
    await link(ownFile, lockFile);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
  return (await readHolder(lockFile))?.nonce === self.nonce;
}

/**
 * Removes a stale lock by renaming it. Of two concurrent processes, the second
 * may rename the new lock of the first, so it checks the renamed lock and
 * restores it.
 */
async function removeStaleLock(
  lockFile: string,
  stale: Holder | undefined,
  renamedFile: string,
): Promise<void> {
  try {
    await rename(lockFile, renamedFile);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  const renamed = await readHolder(renamedFile);
  if (renamed && renamed.nonce !== stale?.nonce) await link(renamedFile, lockFile).catch(() => undefined);
  await rm(renamedFile, { force: true });
}

async function release(lockFile: string, self: Holder): Promise<void> {
  ownNonces.delete(self.nonce);
  if ((await readHolder(lockFile))?.nonce === self.nonce) await rm(lockFile, { force: true });
}

/** Undefined if the file is missing, or was corrupted by a crash of the machine. Both mean a stale lock. */
async function readHolder(lockFile: string): Promise<Holder | undefined> {
  try {
    return JSON.parse(await readFile(lockFile, 'utf8')) as Holder;
  } catch {
    return undefined;
  }
}

async function isRunning(holder: Holder): Promise<boolean> {
  // Restarted containers have the same pid, and in some runtimes the same identity.
  if (holder.pid === process.pid) return ownNonces.has(holder.nonce);
  if (!isAlive(holder.pid)) return false;
  const identity = await processIdentity(holder.pid);
  // If an identity is unknown, assume that a running process with this pid is the holder.
  return identity === undefined || holder.identity === undefined || identity === holder.identity;
}

function lockedBy(holder: Holder, folder: string): FolderLockedError {
  const subject = holder.pid === process.pid ? 'this process already' : `process ${holder.pid}`;
  return new FolderLockedError(`${subject} uses ${folder}; stop it first, or use another state folder`);
}
