// `npm run audit`: fails if npm knows an advisory against a production dependency that accepted-advisories.json does not
// accept. Exits with 3 where the registry publishes no advisories.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { auditProblems } from './lib/advisories.mjs';
import { npmCommand } from './lib/install.mjs';
import { capture, exitOnFailure, rejectOptions, root, StepFailed } from './lib/run.mjs';

const NO_ADVISORIES = 3;

try {
  rejectOptions('npm run audit');
  const accepted = JSON.parse(
    readFileSync(path.join(root, 'tools/commands/accepted-advisories.json'), 'utf8'),
  );
  const report = await readReport();
  if (!report.vulnerabilities) {
    process.stdout.write(`The registry publishes no advisories: ${report.message}\n`);
    process.exit(NO_ADVISORIES);
  }
  const problems = auditProblems(report, accepted, new Date().toISOString().slice(0, 10));
  if (problems.length > 0) throw new StepFailed(`Advisories:\n${problems.join('\n')}`);
  process.stdout.write(`No advisories against production dependencies; ${accepted.length} accepted.\n`);
} catch (error) {
  exitOnFailure(error);
}

/** npm exits with 1 both for advisories and for failures; only the report shows which it is. */
async function readReport() {
  const { command, args } = npmCommand();
  const { output } = await capture(command, [...args, 'audit', '--omit=dev', '--json', '--loglevel=silent']);
  const report = JSON.parse(output);
  const isUnsupported = /^(404|405|501) /.test(report.message ?? '');
  if (!report.vulnerabilities && !isUnsupported) throw new StepFailed(`npm audit failed: ${report.message}`);
  return report;
}
