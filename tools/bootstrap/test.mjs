// `npm test`: everything that CI runs. Static checks count as one test each.
// `npm test -- <jest arguments>` runs only the matching jest tests.
import { existsSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { argumentsOf, CHECKS } from './lib/checks.mjs';
import { say } from './lib/console.mjs';
import { exitOnFailure, root, runStep, runVisibly, StepFailed } from './lib/run.mjs';
import { build, setUp } from './lib/set-up.mjs';

const jestArguments = process.argv.slice(2);
const totals = { passed: 0, failed: 0, skipped: 0 };

try {
  await setUp();
  await build(['gateway', 'model-emulator', 'bench', 'conformance']);
  if (jestArguments.length === 0) await runChecks();
  await runJest();
} catch (error) {
  exitOnFailure(error);
}

const skipped = totals.skipped > 0 ? `, ${totals.skipped} skipped` : '';
say(`\n${totals.passed} passed, ${totals.failed} failed${skipped}`);
process.exit(totals.failed > 0 || totals.passed === 0 ? 1 : 0);

async function runChecks() {
  for (const check of CHECKS) {
    try {
      await runStep(check.title, check.script, argumentsOf(check));
      totals.passed += 1;
    } catch (error) {
      if (!(error instanceof StepFailed)) throw error;
      say(error.message);
      totals.failed += 1;
    }
  }
}

async function runJest() {
  const resultsFile = path.join(root, 'dist', 'test-results.json');
  rmSync(resultsFile, { force: true });
  const code = await runVisibly(process.execPath, [
    path.join('node_modules', 'jest', 'bin', 'jest.js'),
    '--json',
    `--outputFile=${resultsFile}`,
    ...(process.env.CI === 'true' ? ['--ci'] : []),
    ...jestArguments,
  ]);
  const results = existsSync(resultsFile) ? JSON.parse(readFileSync(resultsFile, 'utf8')) : undefined;
  totals.passed += results?.numPassedTests ?? 0;
  totals.skipped += (results?.numPendingTests ?? 0) + (results?.numTodoTests ?? 0);
  // A suite that does not even load has no failed test of its own; jest's exit code then still says no.
  const failed = (results?.numFailedTests ?? 0) + (results?.numRuntimeErrorTestSuites ?? 0);
  totals.failed += code !== 0 && failed === 0 ? 1 : failed;
}
