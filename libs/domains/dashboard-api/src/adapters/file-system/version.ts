import { readFileSync } from 'node:fs';
import path from 'node:path';

/** The project's folder as seen from the built program, and from its source. */
const PROJECT_FOLDERS = ['../..', '../../../../../..'];

/** The version of this gateway; undefined where the program runs without its package.json. */
export function readVersion(): string | undefined {
  for (const folder of PROJECT_FOLDERS) {
    try {
      const text = readFileSync(path.join(__dirname, folder, 'package.json'), 'utf8');
      const { name, version } = JSON.parse(text) as { name?: string; version?: string };
      if (name === 'inference-gateway') return version;
    } catch {
      // Not there; the next may be.
    }
  }
  return undefined;
}
