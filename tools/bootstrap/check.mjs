// `npm run lint [-- PATHS]` and `npm run typecheck`: one static check, also in a bare clone.
import { argumentsOf, CHECKS } from './lib/checks.mjs';
import { exitOnFailure, runVisibly, StepFailed } from './lib/run.mjs';
import { setUp } from './lib/set-up.mjs';

const [name, ...asked] = process.argv.slice(2);

try {
  const check = CHECKS.find((one) => one.name === name);
  if (!check) throw new StepFailed(`There is no check called ${name}.`);
  await setUp();
  process.exitCode = await runVisibly(process.execPath, [check.script, ...argumentsOf(check, asked)]);
} catch (error) {
  exitOnFailure(error);
}
