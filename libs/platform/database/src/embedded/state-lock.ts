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
  /** Tells the holder from a later process of the same id. */
  readonly identity: string | undefined;
  readonly nonce: string;
}

const LOCK_FILE = 'postgres.lock';
const MAX_ATTEMPTS = 5;

/**
 * Makes this process the only one that may run a server on the state folder.
 * The lock of a process that is gone, killed or not, is taken over.
 *
 * @throws EmbeddedPostgresError when another live process holds it, this one included.
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
      if (await claim(ownFile, lockFile, self)) return { release: () => release(lockFile, self) };
      const holder = await readHolder(lockFile);
      if (holder && (await holds(holder))) throw heldBy(stateDirectory, holder);
      await discard(lockFile, holder, `${ownFile}.stale`);
    }
  } finally {
    await rm(ownFile, { force: true });
  }
  throw new EmbeddedPostgresError(`could not lock ${stateDirectory}: other processes are starting there too`);
}

/** A link appears whole or not at all, and only one process can make it. */
async function claim(ownFile: string, lockFile: string, self: Holder): Promise<boolean> {
  try {
    await link(ownFile, lockFile);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
  return (await readHolder(lockFile))?.nonce === self.nonce;
}

/**
 * Moves a stale lock out of the way. Two processes may do so at once, and the
 * second would then move the first one's fresh lock: it looks at what it moved
 * and puts it back.
 */
async function discard(lockFile: string, stale: Holder | undefined, aside: string): Promise<void> {
  try {
    await rename(lockFile, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  const moved = await readHolder(aside);
  if (moved && moved.nonce !== stale?.nonce) await link(aside, lockFile).catch(() => undefined);
  await rm(aside, { force: true });
}

async function release(lockFile: string, self: Holder): Promise<void> {
  if ((await readHolder(lockFile))?.nonce === self.nonce) await rm(lockFile, { force: true });
}

async function readHolder(lockFile: string): Promise<Holder | undefined> {
  try {
    return JSON.parse(await readFile(lockFile, 'utf8')) as Holder;
  } catch {
    return undefined; // gone, or damaged by a crash of the machine: stale either way
  }
}

async function holds(holder: Holder): Promise<boolean> {
  if (!isAlive(holder.pid)) return false;
  const identity = await processIdentity(holder.pid);
  // Where the start of a process cannot be read, a live process of that id counts as the holder.
  return identity === undefined || holder.identity === undefined || identity === holder.identity;
}

function heldBy(stateDirectory: string, holder: Holder): EmbeddedPostgresError {
  const who = holder.pid === process.pid ? 'this process already' : `process ${holder.pid}`;
  return new EmbeddedPostgresError(
    `${who} runs the database in ${stateDirectory}; stop it first, or use another state folder`,
  );
}
