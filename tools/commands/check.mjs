// `npm run lint [-- PATHS]` and `npm run typecheck`: one static check, also in a bare clone.
import { argumentsOf, CHECKS } from './lib/checks.mjs';
import { exitOnFailure, runVisibly, StepFailed } from './lib/run.mjs';
import { setUp } from './lib/set-up.mjs';

const [name, ...asked] = process.argv.slice(2);

try {
  const checks = CHECKS.filter((one) => one.name === name);
  if (checks.length === 0) throw new StepFailed(`There is no check called ${name}.`);
  await setUp();
  for (const check of checks) {
    const code = await runVisibly(process.execPath, [check.script, ...argumentsOf(check, asked)]);
    if (code !== 0) process.exitCode = code;
  }
} catch (error) {
  exitOnFailure(error);
}
