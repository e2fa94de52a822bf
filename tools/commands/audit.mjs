// `npm run audit`: fails if the registry knows an advisory against a production dependency that accepted-advisories.json
// does not accept. Exits with 3 where the registry publishes no advisories.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { auditProblems } from './lib/advisories.mjs';
import { pnpmCommand } from './lib/install.mjs';
import { capture, exitOnFailure, rejectOptions, root, StepFailed } from './lib/run.mjs';

const NO_ADVISORIES = 3;

try {
  rejectOptions('npm run audit');
  const accepted = JSON.parse(
    readFileSync(path.join(root, 'tools/commands/accepted-advisories.json'), 'utf8'),
  );
  const report = await readReport();
  const problems = auditProblems(report, accepted, new Date().toISOString().slice(0, 10));
  if (problems.length > 0) throw new StepFailed(`Advisories:\n${problems.join('\n')}`);
  process.stdout.write(`No advisories against production dependencies; ${accepted.length} accepted.\n`);
} catch (error) {
  exitOnFailure(error);
}

/** pnpm exits with 1 both for advisories and for failures; only the report shows which it is. */
async function readReport() {
  const { output } = await capture(...pnpmCommand('audit', '--prod', '--json'));
  if (output.startsWith('{')) return JSON.parse(output);
  // pnpm wraps its messages in lines.
  if (!/responded with (404|405|501):/.test(output.replace(/[\s│]+/g, ' ')))
    throw new StepFailed(`pnpm audit failed.\n${output}`);
  process.stdout.write(`The registry publishes no advisories.\n${output}`);
  process.exit(NO_ADVISORIES);
}
