import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { buildSync } from 'esbuild';

const root = path.resolve(__dirname, '../../../..');
const folder = path.join(root, 'node_modules', '.cache', 'gateway-programs');

/**
 * Bundles a program of a thread as the build does, since a thread cannot run
 * TypeScript. The bundle of the last run is replaced.
 *
 * @param entry - below the project's folder.
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
    packages: 'external',
    tsconfig: 'tsconfig.base.json',
    logLevel: 'silent',
  });
  const program = path.join(folder, `${path.basename(entry, '.ts')}.js`);
  // Renamed when it is whole: a test beside this one may be reading it.
  const unfinished = `${program}.${process.pid}`;
  mkdirSync(folder, { recursive: true });
  writeFileSync(unfinished, outputFiles[0]?.contents ?? '');
  renameSync(unfinished, program);
  return program;
}
