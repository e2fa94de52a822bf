import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { root } from './run.mjs';

// Stamps live beside what they speak of: without node_modules there is no stamp.
const folder = path.join(root, 'node_modules', '.gateway-stamps');

/** Whether a step ran before on exactly these inputs. */
export function isFresh(step, hash) {
  const file = path.join(folder, step);
  return existsSync(file) && readFileSync(file, 'utf8') === hash;
}

export function markFresh(step, hash) {
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, step), hash);
}

export function forget(step) {
  rmSync(path.join(folder, step), { force: true });
}

/** One hash over the names and contents of files. */
export function hashFiles(files) {
  const hash = createHash('sha256').update(process.version);
  for (const file of [...files].sort()) {
    hash.update(`\0${file}\0`).update(readFileSync(path.join(root, file)));
  }
  return hash.digest('hex');
}

const SKIPPED_FOLDERS = new Set(['node_modules', 'dist', 'generated', '.git', '.nx', '.gateway']);

/** Files under the given folders whose names the filter takes, as paths from the root. Generated ones are left out. */
export function filesUnder(folders, accepts) {
  const found = [];
  const visit = (relative) => {
    for (const entry of readdirSync(path.join(root, relative), { withFileTypes: true })) {
      const name = path.posix.join(relative, entry.name);
      if (entry.isDirectory()) {
        if (!SKIPPED_FOLDERS.has(entry.name)) visit(name);
      } else if (accepts(name)) {
        found.push(name);
      }
    }
  };
  for (const start of folders) if (existsSync(path.join(root, start))) visit(start);
  return found;
}
