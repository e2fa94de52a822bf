import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The full path of a program of this machine; undefined when there is none. */
export function findProgram(name: string): string | undefined {
  // Servers are often where only root looks.
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
