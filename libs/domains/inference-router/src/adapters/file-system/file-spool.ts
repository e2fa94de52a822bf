import { FolderLockedError, lockFolder, type FolderLock } from '@gateway/database';
import { createHash } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { FinishedSpool } from '../../core/ports';
import { SpoolFullError } from '../../core/ports';

/** The default disk limit of the spool, in bytes. */
export const DEFAULT_MAX_SPOOL_BYTES = 256 * 1024 * 1024;

/**
 * Space for one record: 16,384 generations at a time fit the default limit. Most records have 1 KiB, those with dozens of
 * failed attempts several. Records with the response for an Idempotency-Key can be larger; their response is dropped when
 * there is no space for it.
 */
const RESERVED_BYTES = 16 * 1024;

const DONE = '.finished';
const PARTIAL = '.partial';
const UNREADABLE = '.unreadable';
const TEST_RECORD = 'disk-check';

export interface FileSpoolOptions {
  /** Created when missing. Of one process at a time. */
  readonly directory: string;
  readonly maxBytes?: number;
}

/**
 * A folder with one file per record. Each record is written to a temporary file,
 * synced and renamed, so that a crash never leaves a partial record.
 */
export function createFileSpool({
  directory,
  maxBytes = DEFAULT_MAX_SPOOL_BYTES,
}: FileSpoolOptions): FinishedSpool {
  const sizes = new Map<string, number>();
  let lock: FolderLock | undefined;
  let totalBytes = 0;
  let reservations = 0;
  /** Free space of the disk at its last check; 0 after a write failed. */
  let freeBytes = Infinity;

  function setSize(name: string, bytes: number): void {
    totalBytes += bytes - (sizes.get(name) ?? 0);
    if (bytes === 0) sizes.delete(name);
    else sizes.set(name, bytes);
  }

  function hasSpace(): boolean {
    const reservedBytes = (reservations + 1) * RESERVED_BYTES;
    return reservedBytes <= freeBytes && totalBytes + reservedBytes <= maxBytes;
  }

  return {
    async open() {
      await mkdir(directory, { recursive: true, mode: 0o700 });
      lock = await lockFolder(directory, 'spool.lock').catch((error: unknown) => {
        if (error instanceof FolderLockedError) throw error;
        // A full disk accepts no lock, and its records have to be delivered.
        return undefined;
      });
      for (const file of await readdir(directory)) {
        if (file.endsWith(PARTIAL) || file === TEST_RECORD + DONE) {
          await rm(join(directory, file), { force: true });
        } else if (file.endsWith(DONE)) {
          setSize(file.slice(0, -DONE.length), (await stat(join(directory, file))).size);
        }
      }
    },

    async close() {
      await lock?.release();
    },

    hasSpace,

    reserve() {
      if (!hasSpace()) return undefined;
      reservations += 1;
      let isHeld = true;
      return () => {
        if (isHeld) reservations -= 1;
        isHeld = false;
      };
    },

    async checkDisk() {
      try {
        await writeDurably(directory, TEST_RECORD, Buffer.from('test'));
        await rm(join(directory, TEST_RECORD + DONE), { force: true });
        const { bavail, bsize } = await statfs(directory);
        freeBytes = bavail * bsize;
        return undefined;
      } catch (error) {
        freeBytes = 0;
        return error as Error;
      }
    },

    async put(id, record) {
      const name = fileName(id);
      if (totalBytes + record.length > maxBytes) throw new SpoolFullError(maxBytes);
      // A replay must not find the record before it is durable.
      totalBytes += record.length;
      try {
        await writeDurably(directory, name, record);
      } catch (error) {
        freeBytes = 0;
        throw error;
      } finally {
        totalBytes -= record.length;
      }
      setSize(name, record.length);
    },

    names: () => [...sizes.keys()],
    read: (name) => readFile(join(directory, name + DONE)),

    async remove(name) {
      await rm(join(directory, name + DONE), { force: true });
      setSize(name, 0);
    },

    async setAside(name) {
      await rename(join(directory, name + DONE), join(directory, name + UNREADABLE));
      setSize(name, 0);
    },

    bytes: () => totalBytes,
  };
}

async function writeDurably(directory: string, name: string, record: Uint8Array): Promise<void> {
  const partial = join(directory, name + PARTIAL);
  try {
    const file = await open(partial, 'w', 0o600);
    try {
      await file.writeFile(record);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(partial, join(directory, name + DONE));
  } catch (error) {
    // A full disk needs the space back.
    await rm(partial, { force: true });
    throw error;
  }
  // The rename is durable only after the folder is synced.
  const folder = await open(directory, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** Generation ids are plain; any other name is hashed, so that it cannot select a path. */
function fileName(id: string): string {
  return /^[A-Za-z0-9_-]{1,100}$/.test(id) ? id : createHash('sha256').update(id).digest('hex');
}
