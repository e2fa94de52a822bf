import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** The files below a folder that contain the text, as absolute paths. */
export function filesWith(folder: string, text: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
    .filter((file) => contains(file, text));
}

/** @returns false for a file that was deleted meanwhile. */
function contains(file: string, text: string): boolean {
  try {
    return readFileSync(file).includes(text);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}
