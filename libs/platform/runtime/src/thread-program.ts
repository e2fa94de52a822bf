import { existsSync } from 'node:fs';
import path from 'node:path';

/** From the sources of this library, which are not where its bundles are. */
const ROOT = '../../../..';

/**
 * The program of a thread, which the build places next to the app's. Tests that run from source use that of the built
 * gateway.
 */
export function threadProgram(name: string): string {
  const sibling = path.join(__dirname, name);
  return existsSync(sibling) ? sibling : path.resolve(__dirname, ROOT, 'dist/gateway', name);
}
