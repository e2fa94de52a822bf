import { chmodSync, mkdtempSync, readdirSync, rmSync, statfsSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const IN_MEMORY = '/dev/shm';
/** The most that a test run writes, doubled to leave memory for its programs. */
const NEEDED_BYTES = 8 * 1024 ** 3;
/** The name contains the owner's process id. */
const NAME = /^gateway-test-(\d+)-/;

/**
 * Creates the temporary folder of one test run, for it and its child processes. It is
 * removed when this process exits or, if this process is killed, by the next run. It is
 * in memory if there is enough: many test databases on one disk slow each other's
 * commits, sometimes by seconds.
 */
export function makeTestFolder() {
  const parent = hasEnoughMemory() ? IN_MEMORY : os.tmpdir();
  removeOrphaned(parent);
  const folder = mkdtempSync(path.join(parent, `gateway-test-${process.pid}-`));
  // As for any temporary folder: servers that run as other users write here, too.
  chmodSync(folder, 0o1777);
  process.env.TMPDIR = folder;
  process.on('exit', () => remove(folder));
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));
}

function removeOrphaned(parent) {
  for (const name of readdirSync(parent)) {
    const [, owner] = NAME.exec(name) ?? [];
    if (owner !== undefined && !isRunning(Number(owner))) remove(path.join(parent, name));
  }
}

/** A server that is still stopping may write files here; the next run removes them. */
function remove(folder) {
  try {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  } catch {
    // The next run tries again.
  }
}

function isRunning(pid) {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error.code === 'EPERM';
  }
}

function hasEnoughMemory() {
  try {
    const { bavail, bsize } = statfsSync(IN_MEMORY);
    return Math.min(bavail * bsize, process.availableMemory()) >= NEEDED_BYTES;
  } catch {
    return false;
  }
}
