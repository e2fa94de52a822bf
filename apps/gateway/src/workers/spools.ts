import { existsSync, mkdirSync, readdirSync, renameSync } from 'node:fs';
import path from 'node:path';

const OF_WORKER = /^spool-worker-(\d+)$/;

/** Where a worker keeps finished generations that nobody took. */
export function spoolOfWorker(stateDirectory: string, worker: number): string {
  return path.join(stateDirectory, `spool-worker-${worker}`);
}

/**
 * Moves what workers left that are there no longer, since there are fewer of
 * them now or none, to the main process' own spool, which delivers it.
 */
export function gatherSpools(stateDirectory: string, workers: number): void {
  const own = path.join(stateDirectory, 'spool');
  for (const folder of existsSync(stateDirectory) ? readdirSync(stateDirectory) : []) {
    const worker = Number(OF_WORKER.exec(folder)?.[1]);
    if (!(worker > workers)) continue;
    mkdirSync(own, { recursive: true, mode: 0o700 });
    const from = path.join(stateDirectory, folder);
    for (const entry of readdirSync(from, { withFileTypes: true })) {
      if (entry.isFile()) renameSync(path.join(from, entry.name), path.join(own, entry.name));
    }
  }
}
