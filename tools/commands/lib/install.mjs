import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { nodeProblem } from './node-problem.mjs';
import { root, StepFailed } from './run.mjs';
import { runStep } from './step.mjs';

const PNPM_VERSION = '12.21.0';

/** In node_modules, so that it disappears with the packages. */
const STAMP = path.join(root, 'node_modules', '.gateway-installed');

/** npm writes this file when it changes node_modules, where it installs other versions than those of the lock file. */
const CHANGED_BY_NPM = path.join(root, 'node_modules', '.package-lock.json');

/**
 * Installs the packages of the lock file, unless they are installed already: those that building and running need, and
 * with `tests` those of tests and checks. npm's own setting `omit=dev` leaves the latter out, too.
 */
export async function install({ tests = process.env.npm_config_omit !== 'dev' } = {}) {
  const problem = nodeProblem();
  if (problem !== undefined) throw new StepFailed(problem);
  const lock = hashOf(['package.json', 'pnpm-lock.yaml', 'pnpm-workspace.yaml']);
  const isChanged = existsSync(CHANGED_BY_NPM);
  const installed = existsSync(STAMP) && !isChanged ? readFileSync(STAMP, 'utf8') : '';
  const all = `${lock} with tests`;
  if (installed === all || (!tests && installed === lock)) return;
  // pnpm would remove packages of tests that are installed.
  const withTests = tests || existsSync(path.join(root, 'node_modules', 'jest'));
  rmSync(STAMP, { force: true });
  if (isChanged) rmSync(path.join(root, 'node_modules'), { recursive: true });
  await runStep(
    'Install packages',
    ...pnpmCommand('install', '--frozen-lockfile', ...(withTests ? [] : ['--prod'])),
  );
  writeFileSync(STAMP, withTests ? all : lock);
}

function hashOf(files) {
  const hash = createHash('sha256');
  for (const file of files) hash.update(readFileSync(path.join(root, file)));
  return hash.digest('hex');
}

/**
 * npm downloads pnpm once. pnpm reads the registry from .npmrc files, as npm does,
 * but not from npm's environment.
 *
 * @returns program, arguments and environment
 */
export function pnpmCommand(...args) {
  const npm = npmCommand();
  const registry = process.env.npm_config_registry;
  return [
    npm.command,
    // No dependency needs its install scripts, and some would download binaries.
    [
      ...npm.args,
      'exec',
      '--yes',
      '--ignore-scripts',
      `--package=pnpm@${PNPM_VERSION}`,
      '--',
      'pnpm',
      ...args,
    ],
    registry === undefined ? {} : { pnpm_config_registry: registry },
  ];
}

/** The npm that runs this process, if known; otherwise the one on the PATH. */
export function npmCommand() {
  const script = process.env.npm_execpath;
  if (script && /npm-cli\.js$/.test(script) && existsSync(script)) {
    return { command: process.execPath, args: [script] };
  }
  return { command: process.platform === 'win32' ? 'npm.cmd' : 'npm', args: [] };
}
