// `npm run simulate [-- --histories N] [--seed N]`: runs histories of the money path against a real PostgreSQL. A failing
// one is shrunk and printed with its seed.
import path from 'node:path';
import { parseArgs } from 'node:util';
import { generate } from './lib/nx.mjs';
import { exitOnFailure, Misused, runVisibly } from './lib/run.mjs';

const USAGE = 'npm run simulate [-- --histories N] [--seed N]';

try {
  const { histories, seed } = readArguments();
  await generate();
  process.exitCode = await runVisibly(
    process.execPath,
    [
      path.join('node_modules', 'jest', 'bin', 'jest.js'),
      '--runTestsByPath',
      'tools/verify/simulation/src/histories.sim.spec.ts',
    ],
    { SIMULATION_HISTORIES: histories, SIMULATION_SEED: seed },
  );
} catch (error) {
  exitOnFailure(error);
}

function readArguments() {
  let values;
  try {
    ({ values } = parseArgs({
      options: { histories: { type: 'string', default: '1000' }, seed: { type: 'string', default: '1' } },
    }));
  } catch (error) {
    throw new Misused(error.message, USAGE);
  }
  for (const [name, value] of Object.entries(values)) {
    if (!/^[1-9]\d{0,8}$/.test(value))
      throw new Misused(`--${name} must be a positive integer: ${value}`, USAGE);
  }
  return values;
}
