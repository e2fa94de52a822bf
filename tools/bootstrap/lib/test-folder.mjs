import { mkdtempSync, chmodSync, rmSync, statfsSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const IN_MEMORY = '/dev/shm';
/** What a whole run writes at most, with as much again for the programs themselves. */
const NEEDED_BYTES = 8 * 1024 ** 3;

/**
 * The temporary folder of one test run, for it and all that it starts; removed
 * when this process ends. In memory where there is plenty: the tests run many
 * databases at once, and on one disk the commits of each wait, for seconds at
 * times, for what the others write.
 */
export function makeTestFolder() {
  const folder = mkdtempSync(path.join(hasRoomInMemory() ? IN_MEMORY : os.tmpdir(), 'gateway-'));
  // As of every temporary folder: servers that run as somebody else write here, too.
  chmodSync(folder, 0o1777);
  process.env.TMPDIR = folder;
  process.on('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));
}

function hasRoomInMemory() {
  try {
    const { bavail, bsize } = statfsSync(IN_MEMORY);
    return Math.min(bavail * bsize, process.availableMemory()) >= NEEDED_BYTES;
  } catch {
    return false;
  }
}
