import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { nodeProblem } from './node-problem.mjs';
import { root, StepFailed } from './run.mjs';
import { runStep } from './step.mjs';

/** In node_modules, so that it disappears with the packages. */
const STAMP = path.join(root, 'node_modules', '.gateway-installed');

/**
 * Installs the packages of the lock file, unless they are installed already: those that building and running need, and
 * with `tests` those of tests and checks. npm's own setting `omit=dev` leaves the latter out, too.
 */
export async function install({ tests = process.env.npm_config_omit !== 'dev' } = {}) {
  const problem = nodeProblem();
  if (problem !== undefined) throw new StepFailed(problem);
  const lock = hashOf(['package.json', 'package-lock.json', '.npmrc']);
  const installed = existsSync(STAMP) ? readFileSync(STAMP, 'utf8') : '';
  const all = `${lock} with tests`;
  if (installed === all || (!tests && installed === lock)) return;
  // npm would remove packages of tests that are installed.
  const withTests = tests || existsSync(path.join(root, 'node_modules', 'jest'));
  rmSync(STAMP, { force: true });
  const npm = npmCommand();
  // `npm ci` refuses a lock file that was written where other platforms' optional packages were unavailable.
  // No dependency needs its install scripts, and some would download binaries.
  await runStep('Install packages', npm.command, [
    ...npm.args,
    'install',
    '--ignore-scripts',
    // Explicit, because NODE_ENV=production changes the default.
    withTests ? '--include=dev' : '--omit=dev',
    // Other versions of npm would rewrite the lock file in another format.
    '--no-save',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
  ]);
  writeFileSync(STAMP, withTests ? all : lock);
}

function hashOf(files) {
  const hash = createHash('sha256');
  for (const file of files) hash.update(readFileSync(path.join(root, file)));
  return hash.digest('hex');
}

/** The npm that runs this process, if known; otherwise the one on the PATH. */
export function npmCommand() {
  const script = process.env.npm_execpath;
  if (script && /npm-cli\.js$/.test(script) && existsSync(script)) {
    return { command: process.execPath, args: [script] };
  }
  return { command: process.platform === 'win32' ? 'npm.cmd' : 'npm', args: [] };
}
