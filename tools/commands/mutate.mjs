// `npm run mutate [-- PART…] [--list]`: plants bugs by machine and lists those that no test sees. See tools/verify/mutate.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { sqlMutants, typescriptMutants } from '../verify/mutate/mutants.mjs';
import { targets } from '../verify/mutate/targets.mjs';
import { generate } from './lib/nx.mjs';
import { exitOnFailure, Misused, root, StepFailed } from './lib/run.mjs';

const USAGE = `npm run mutate [-- PART…] [--list] [--shard 1/4] [--matching TEXT]\n\nParts: ${Object.keys(targets).join(', ')}`;
const MINUTE_MS = 60_000;
const MAX_RUN_MS = 10 * MINUTE_MS;

try {
  const { parts, list, isChosen } = readArguments();
  if (!list) await generate();
  const explained = JSON.parse(readFileSync(path.join(root, 'tools/verify/mutate/explained.json'), 'utf8'));
  let unexplained = 0;
  for (const part of parts) {
    const mutants = mutantsOf(part, isChosen);
    unexplained += list ? show(part, mutants) : tryAll(part, mutants, explained[part] ?? {});
  }
  if (unexplained > 0)
    throw new StepFailed(`${unexplained} planted bugs are seen by no test and explained nowhere.`);
} catch (error) {
  exitOnFailure(error);
}

function readArguments() {
  let parsed;
  try {
    parsed = parseArgs({
      allowPositionals: true,
      options: {
        list: { type: 'boolean', default: false },
        shard: { type: 'string', default: '1/1' },
        matching: { type: 'string', default: '' },
      },
    });
  } catch (error) {
    throw new Misused(error.message, USAGE);
  }
  const parts = parsed.positionals.length > 0 ? parsed.positionals : Object.keys(targets);
  for (const part of parts) if (!(part in targets)) throw new Misused(`no such part: ${part}`, USAGE);
  const [, shard, shards] = /^(\d+)\/([1-9]\d*)$/.exec(parsed.values.shard) ?? [];
  if (!shards || +shard < 1 || +shard > +shards)
    throw new Misused(`no such shard: ${parsed.values.shard}`, USAGE);
  const isChosen = ({ name }, index) => index % shards === shard - 1 && name.includes(parsed.values.matching);
  return { parts, list: parsed.values.list, isChosen };
}

/** The planted bugs of a part, each with its file and that file's text. */
function mutantsOf(part, isChosen) {
  const mutants = targets[part].files.flatMap((file) => {
    const text = readFileSync(path.join(root, file), 'utf8');
    const found = file.endsWith('.sql') ? sqlMutants(text) : typescriptMutants(text);
    return found.map((mutant) => ({ ...mutant, file, text }));
  });
  return mutants.filter(isChosen);
}

function show(part, mutants) {
  console.log(`${part}: ${mutants.length} planted bugs`);
  for (const { name } of mutants) console.log(`  ${name}`);
  return 0;
}

/** How many survive without an explanation. */
function tryAll(part, mutants, explained) {
  const { tests } = targets[part];
  const restore = () => {
    for (const { file, text } of mutants) writeFileSync(path.join(root, file), text);
  };
  const stop = () => {
    restore();
    process.exit(130);
  };
  process.once('SIGINT', stop).once('SIGTERM', stop);
  let explainedOnes = 0;
  let survivors = 0;
  if (!passes(tests)) throw new StepFailed(`The tests of ${part} fail without any planted bug.`);
  try {
    for (const { file, text, start, end, replacement, name } of mutants) {
      writeFileSync(path.join(root, file), text.slice(0, start) + replacement + text.slice(end));
      const survives = passes(tests);
      writeFileSync(path.join(root, file), text);
      process.stderr.write(survives ? 'S' : '.');
      if (!survives) continue;
      if (name in explained) {
        explainedOnes += 1;
        continue;
      }
      survivors += 1;
      // At once: a run of hours may be cut short.
      console.log(`survives: ${name}`);
    }
  } finally {
    restore();
    process.stderr.write('\n');
    process.off('SIGINT', stop).off('SIGTERM', stop);
  }
  const seen = mutants.length - explainedOnes - survivors;
  console.log(`${part}: ${mutants.length} planted, ${seen} seen, ${explainedOnes} explained`);
  return survivors;
}

/** Step after step, so that what a quick test sees needs no slow one. */
function passes(tests) {
  return tests.every((step) => passesStep(step));
}

function passesStep(tests) {
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
