// `npm run fuzz [-- RUNS]`: runs every property test with many more random inputs than CI does, for instance overnight.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { generate } from './lib/nx.mjs';
import { exitOnFailure, Misused, root, runVisibly } from './lib/run.mjs';
import { filesUnder } from './lib/files.mjs';

const DEFAULT_RUNS = 100_000;
const HOUR_MS = 3_600_000;

try {
  const runs = Number(process.argv[2] ?? DEFAULT_RUNS);
  if (!Number.isSafeInteger(runs) || runs < 1 || process.argv.length > 3) {
    throw new Misused(
      `RUNS must be a positive integer: '${process.argv.slice(2).join(' ')}'`,
      'npm run fuzz [-- RUNS]',
    );
  }
  await generate();
  const isPropertyTest = (file) =>
    file.endsWith('.spec.ts') && readFileSync(path.join(root, file), 'utf8').includes('fuzzRuns()');
  const specs = ['apps', 'libs', 'tools'].flatMap((folder) => filesUnder(folder, isPropertyTest));
  process.exitCode = await runVisibly(
    process.execPath,
    [
      path.join('node_modules', 'jest', 'bin', 'jest.js'),
      `--testTimeout=${HOUR_MS}`,
      '--runTestsByPath',
      ...specs,
    ],
    { FUZZ_RUNS: String(runs) },
  );
} catch (error) {
  exitOnFailure(error);
}
