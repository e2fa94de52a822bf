// `npm run mutate [-- PART…] [--list]`: mutation testing; lists the mutants that no test detects. See tools/verify/mutate.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { plantedBug, sqlMutants, typescriptMutants } from '../verify/mutate/mutants.mjs';
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
    throw new StepFailed(`${unexplained} mutants are neither detected by a test nor explained.`);
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
  for (const part of parts) if (!(part in targets)) throw new Misused(`unknown part: ${part}`, USAGE);
  const [, shard, shards] = /^(\d+)\/([1-9]\d*)$/.exec(parsed.values.shard) ?? [];
  if (!shards || +shard < 1 || +shard > +shards)
    throw new Misused(`unknown shard: ${parsed.values.shard}`, USAGE);
  const isChosen = ({ name }, index) => index % shards === shard - 1 && name.includes(parsed.values.matching);
  return { parts, list: parsed.values.list, isChosen };
}

/** The mutants of a part, each with its file and the original text. */
function mutantsOf(part, isChosen) {
  const { files, planted } = targets[part];
  const mutants = files.flatMap((file) => {
    const text = readFileSync(path.join(root, file), 'utf8');
    const bugs = planted?.filter((bug) => bug.file === file).map((bug) => plantedBug(text, bug));
    const found = bugs ?? (file.endsWith('.sql') ? sqlMutants(text) : typescriptMutants(text));
    return found.map((mutant) => ({ ...mutant, file, text }));
  });
  return mutants.filter(isChosen);
}

function show(part, mutants) {
  console.log(`${part}: ${mutants.length} mutants`);
  for (const { name } of mutants) console.log(`  ${name}`);
  return 0;
}

/** Returns the number of surviving mutants without an explanation. */
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
  let explainedSurvivors = 0;
  let survivors = 0;
  if (!passes(tests)) throw new StepFailed(`The tests of ${part} fail without a mutant.`);
  try {
    for (const { file, text, start, end, replacement, name } of mutants) {
      writeFileSync(path.join(root, file), text.slice(0, start) + replacement + text.slice(end));
      const survives = passes(tests);
      writeFileSync(path.join(root, file), text);
      process.stderr.write(survives ? 'S' : '.');
      if (!survives) continue;
      if (name in explained) {
        explainedSurvivors += 1;
        continue;
      }
      survivors += 1;
      // Printed immediately, because a run takes hours and may be interrupted.
      console.log(`survives: ${name}`);
    }
  } finally {
    restore();
    process.stderr.write('\n');
    process.off('SIGINT', stop).off('SIGTERM', stop);
  }
  const detected = mutants.length - explainedSurvivors - survivors;
  console.log(`${part}: ${mutants.length} mutants, ${detected} detected, ${explainedSurvivors} explained`);
  return survivors;
}

/** Runs quick tests first, so that a detected mutant needs no slow ones. */
function passes(tests) {
  return tests.every((step) => passesStep(step));
}

function passesStep(tests) {
  const jest = path.join('node_modules', 'jest', 'bin', 'jest.js');
  const { status } = spawnSync(
    process.execPath,
    [jest, '--bail', '--silent', '--testTimeout=60000', ...tests],
    { cwd: root, stdio: 'ignore', timeout: MAX_RUN_MS },
  );
  return status === 0;
}
