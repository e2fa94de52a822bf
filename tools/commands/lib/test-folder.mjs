import { chmodSync, mkdtempSync, readdirSync, rmSync, statfsSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const IN_MEMORY = '/dev/shm';
/** What a whole run writes at most, with as much again for the programs themselves. */
const NEEDED_BYTES = 8 * 1024 ** 3;
/** Named by the process that it is of. */
const NAME = /^gateway-test-(\d+)-/;

/**
 * The temporary folder of one test run, for it and all that it starts; removed
 * when this process ends, or by the next run when this one is killed. In memory
 * where there is plenty: the tests run many databases at once, and on one disk
 * the commits of each wait, for seconds at times, for what the others write.
 */
export function makeTestFolder() {
  const parent = hasRoomInMemory() ? IN_MEMORY : os.tmpdir();
  removeThoseLeft(parent);
  const folder = mkdtempSync(path.join(parent, `gateway-test-${process.pid}-`));
  // As of every temporary folder: servers that run as somebody else write here, too.
  chmodSync(folder, 0o1777);
  process.env.TMPDIR = folder;
  process.on('exit', () => remove(folder));
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));
}

function removeThoseLeft(parent) {
  for (const name of readdirSync(parent)) {
    const [, owner] = NAME.exec(name) ?? [];
    if (owner !== undefined && !isRunning(Number(owner))) remove(path.join(parent, name));
  }
}

/** What a server that is just ending still writes there is left to the next run. */
function remove(folder) {
  try {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  } catch {
    // Nothing depends on it.
  }
}

function isRunning(pid) {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error.code === 'EPERM';
  }
}

function hasRoomInMemory() {
  try {
    const { bavail, bsize } = statfsSync(IN_MEMORY);
    return Math.min(bavail * bsize, process.availableMemory()) >= NEEDED_BYTES;
  } catch {
    return false;
  }
}
