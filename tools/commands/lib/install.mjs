import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { nodeProblem } from './node-problem.mjs';
import { root, runVisibly, StepFailed } from './run.mjs';

/** In node_modules, so that it disappears with the packages. */
const STAMP = path.join(root, 'node_modules', '.gateway-installed');

/** Installs the packages of the lock file, unless they are installed already. */
export async function install() {
  const problem = nodeProblem();
  if (problem !== undefined) throw new StepFailed(problem);
  const wanted = hashOf(['package.json', 'package-lock.json', '.npmrc']);
  if (existsSync(STAMP) && readFileSync(STAMP, 'utf8') === wanted) return;
  rmSync(STAMP, { force: true });
  process.stdout.write('Installing packages (about a minute the first time) …\n');
  const npm = npmCommand();
  // `npm ci` refuses a lock file that was written where other platforms' optional packages were unavailable.
  // No dependency needs its install scripts, and some would download binaries.
  const code = await runVisibly(npm.command, [
    ...npm.args,
    'install',
    '--ignore-scripts',
    // Also when NODE_ENV is production: the build needs them.
    '--include=dev',
    // Other versions of npm would rewrite the lock file in another format.
    '--no-save',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
  ]);
  if (code !== 0) throw new StepFailed(`npm install failed (exit code ${code}).`);
  writeFileSync(STAMP, wanted);
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
