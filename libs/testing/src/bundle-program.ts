import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { buildSync } from 'esbuild';

const root = path.resolve(__dirname, '../../..');

/**
 * Bundles a program of a thread as the build does, since a thread cannot run
 * TypeScript. The file is removed when the process ends.
 *
 * @param entry - below the project's folder.
 * @returns the absolute path of the bundle.
 */
export function bundleProgram(entry: string): string {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'gateway-program-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const outfile = path.join(folder, `${path.basename(entry, '.ts')}.js`);
  buildSync({
    absWorkingDir: root,
    entryPoints: [entry],
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    packages: 'external',
    tsconfig: 'tsconfig.base.json',
    logLevel: 'silent',
  });
  return outfile;
}
