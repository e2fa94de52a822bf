import { readdirSync } from 'node:fs';
import path from 'node:path';
import { root } from './run.mjs';

const SKIPPED_FOLDERS = new Set(['node_modules', 'generated']);

/** Files below a folder whose names the filter accepts, as paths from the root, without generated files. */
export function filesUnder(folder, accepts) {
  return readdirSync(path.join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const name = path.posix.join(folder, entry.name);
    if (entry.isDirectory()) return SKIPPED_FOLDERS.has(entry.name) ? [] : filesUnder(name, accepts);
    return accepts(name) ? [name] : [];
  });
}
