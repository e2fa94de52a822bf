import { existsSync } from 'node:fs';
import path from 'node:path';

const ROOT = '../../../../../..';

/** The program of a thread. Tests that run from source use that of the built gateway. */
export function builtProgram(name: string): string {
  const sibling = path.join(__dirname, name);
  return existsSync(sibling) ? sibling : path.resolve(__dirname, ROOT, 'dist/gateway', name);
}
