import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { buildSync } from 'esbuild';

const root = path.resolve(__dirname, '../../../..');
const folder = path.join(root, 'node_modules', '.cache', 'gateway-programs');

/**
 * Bundles the program of a worker thread as the build does, since a worker thread
 * cannot run TypeScript. Replaces the bundle of the previous run.
 *
 * @param entry - path relative to the workspace root.
 * @returns the absolute path of the bundle.
 */
export function bundleProgram(entry: string): string {
  const { outputFiles } = buildSync({
    absWorkingDir: root,
    entryPoints: [entry],
    write: false,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    tsconfig: 'tsconfig.base.json',
    logLevel: 'silent',
  });
  const program = path.join(folder, `${path.basename(entry, '.ts')}.js`);
  // An atomic rename, since a concurrent test may be reading the old bundle.
  const temporaryFile = `${program}.${process.pid}`;
  mkdirSync(folder, { recursive: true });
  writeFileSync(temporaryFile, outputFiles[0]?.contents ?? '');
  renameSync(temporaryFile, program);
  return program;
}
