import { randomUUID } from 'node:crypto';
import { link, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EmbeddedPostgresError } from './postgres-error';
import { isAlive, processIdentity } from './process-identity';

export interface StateLock {
  release(): Promise<void>;
}

interface Holder {
  readonly pid: number;
  /** Distinguishes the holder from a later process with the same pid. */
  readonly identity: string | undefined;
  readonly nonce: string;
}

const LOCK_FILE = 'postgres.lock';
const MAX_ATTEMPTS = 5;

/**
 * Locks the state folder, so that only this process runs a server on it. A lock
 * whose holder has exited is stale and replaced.
 *
 * @throws EmbeddedPostgresError if a running process holds the lock, even this one.
 */
export async function lockStateFolder(stateDirectory: string): Promise<StateLock> {
  const lockFile = join(stateDirectory, LOCK_FILE);
  const self: Holder = {
    pid: process.pid,
    identity: await processIdentity(process.pid),
    nonce: randomUUID(),
  };
  const ownFile = `${lockFile}.${self.nonce}`;
  await writeFile(ownFile, JSON.stringify(self), { mode: 0o600 });
  try {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      if (await tryLock(ownFile, lockFile, self)) return { release: () => release(lockFile, self) };
      const holder = await readHolder(lockFile);
      if (holder && (await isRunning(holder))) throw lockedBy(holder, stateDirectory);
      await removeStaleLock(lockFile, holder, `${ownFile}.stale`);
    }
  } finally {
    await rm(ownFile, { force: true });
  }
  throw new EmbeddedPostgresError(`could not lock ${stateDirectory}: other processes are starting there too`);
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
  if (!isAlive(holder.pid)) return false;
  const identity = await processIdentity(holder.pid);
  // If an identity is unknown, assume that a running process with this pid is the holder.
  return identity === undefined || holder.identity === undefined || identity === holder.identity;
}

function lockedBy(holder: Holder, stateDirectory: string): EmbeddedPostgresError {
  const subject = holder.pid === process.pid ? 'this process already' : `process ${holder.pid}`;
  return new EmbeddedPostgresError(
    `${subject} runs the database in ${stateDirectory}; stop it first, or use another state folder`,
  );
}
