import { readFileSync } from 'node:fs';
import path from 'node:path';

/** The project root, relative to the bundle and to this source file. */
const PROJECT_FOLDERS = ['../..', '../../../../../..'];

/** The version of the gateway; undefined without its package.json. */
export function readVersion(): string | undefined {
  for (const folder of PROJECT_FOLDERS) {
    try {
      const text = readFileSync(path.join(__dirname, folder, 'package.json'), 'utf8');
      const { name, version } = JSON.parse(text) as { name?: string; version?: string };
      if (name === 'inference-gateway') return version;
    } catch {
      // Try the next folder.
    }
  }
  return undefined;
}
