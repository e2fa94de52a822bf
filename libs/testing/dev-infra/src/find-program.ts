import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The full path of an installed program; undefined if there is none. */
export function findProgram(name: string): string | undefined {
  // Servers are often in folders that are on root's PATH only.
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin'];
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
