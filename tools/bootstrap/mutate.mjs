// `npm run mutate [-- PART…] [--list]`: plants bugs by machine and lists those that no test sees. See tools/mutate.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { sqlMutants, typescriptMutants } from '../mutate/mutants.mjs';
import { targets } from '../mutate/targets.mjs';
import { exitOnFailure, Misused, root, StepFailed } from './lib/run.mjs';
import { setUp } from './lib/set-up.mjs';

const USAGE = `npm run mutate [-- PART…] [--list]\n\nParts: ${Object.keys(targets).join(', ')}`;
const MINUTE_MS = 60_000;
const MAX_RUN_MS = 10 * MINUTE_MS;

try {
  const { parts, list } = readArguments();
  if (!list) await setUp();
  const explained = JSON.parse(readFileSync(path.join(root, 'tools/mutate/explained.json'), 'utf8'));
  let unexplained = 0;
  for (const part of parts) unexplained += list ? show(part) : tryAll(part, explained[part] ?? {});
  if (unexplained > 0)
    throw new StepFailed(`${unexplained} planted bugs are seen by no test and explained nowhere.`);
} catch (error) {
  exitOnFailure(error);
}

function readArguments() {
  let parsed;
  try {
    parsed = parseArgs({ allowPositionals: true, options: { list: { type: 'boolean', default: false } } });
  } catch (error) {
    throw new Misused(error.message, USAGE);
  }
  const parts = parsed.positionals.length > 0 ? parsed.positionals : Object.keys(targets);
  for (const part of parts) if (!(part in targets)) throw new Misused(`no such part: ${part}`, USAGE);
  return { parts, list: parsed.values.list };
}

function mutantsOf(part) {
  const text = readFileSync(path.join(root, targets[part].file), 'utf8');
  return { text, mutants: part.endsWith('-functions') ? sqlMutants(text) : typescriptMutants(text) };
}

function show(part) {
  const { mutants } = mutantsOf(part);
  console.log(`${part}: ${mutants.length} planted bugs`);
  for (const { name } of mutants) console.log(`  ${name}`);
  return 0;
}

/** How many survive without an explanation. */
function tryAll(part, explained) {
  const { file, tests } = targets[part];
  const { text, mutants } = mutantsOf(part);
  const restore = () => writeFileSync(path.join(root, file), text);
  const stop = () => {
    restore();
    process.exit(130);
  };
  process.once('SIGINT', stop).once('SIGTERM', stop);
  const survivors = [];
  if (!passes(tests)) throw new StepFailed(`The tests of ${part} fail without any planted bug.`);
  try {
    for (const { start, end, replacement, name } of mutants) {
      writeFileSync(path.join(root, file), text.slice(0, start) + replacement + text.slice(end));
      if (passes(tests)) survivors.push(name);
    }
  } finally {
    restore();
    process.off('SIGINT', stop).off('SIGTERM', stop);
  }
  const left = survivors.filter((name) => !(name in explained));
  console.log(
    `${part}: ${mutants.length} planted, ${mutants.length - survivors.length} seen, ${survivors.length - left.length} explained`,
  );
  for (const name of left) console.log(`  survives: ${name}`);
  return left.length;
}

function passes(tests) {
  const jest = path.join('node_modules', 'jest', 'bin', 'jest.js');
  const { status } = spawnSync(
    process.execPath,
    [jest, '--bail', '--silent', '--testTimeout=60000', ...tests],
    {
      cwd: root,
      stdio: 'ignore',
      timeout: MAX_RUN_MS,
      env: { ...process.env, FUZZ_RUNS: '500' },
    },
  );
  return status === 0;
}
