import { spawn } from 'node:child_process';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface ScratchDirectory {
  readonly path: string;
  remove(): Promise<void>;
}

/** When the test's process exits, its input closes; then it removes the folder, retrying while servers still stop. */
const REAPER = `
  read -r line
  tries=0
  while [ $tries -lt 10 ]; do sleep 1; rm -rf "$1" && [ ! -e "$1" ] && exit; tries=$((tries + 1)); done`;

/**
 * Creates a world-readable folder for a test's files. It is also removed when the test's
 * process is killed.
 */
export async function createScratchDirectory(): Promise<ScratchDirectory> {
  const path = await mkdtemp(join(tmpdir(), 'gateway-test-scratch-'));
  await chmod(path, 0o755);
  const reaper = spawn('/bin/sh', ['-c', REAPER, 'test-scratch-reaper', path], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  reaper.unref();
  return {
    path,
    async remove() {
      await rm(path, { recursive: true, force: true, maxRetries: 3 });
      reaper.kill('SIGKILL');
    },
  };
}
