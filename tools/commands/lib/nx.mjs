import { existsSync, readdirSync, statSync, utimesSync } from 'node:fs';
import path from 'node:path';
import { install } from './install.mjs';
import { root, runVisibly, StepFailed } from './run.mjs';
import { runStep } from './step.mjs';

/** The services of a cluster, and the `cluster` program that starts them on this machine. */
export const CLUSTER_PROJECTS = [
  'auth',
  'rate-limit',
  'billing-ledger',
  'usage-aggregator',
  'generation-query',
  'inference-router',
  'edge-proxy',
  'dashboard-api',
  'cluster',
];

/** Installs packages if needed and runs Nx; its targets are in nx.json and the project.json files. */
export async function nx(...args) {
  await install();
  return runVisibly(...nxCommand(...args));
}

/** @returns program, arguments and environment */
export function nxCommand(...args) {
  const program = path.join('node_modules', 'nx', 'dist', 'bin', 'nx.js');
  return [process.execPath, [program, ...args], { NX_TUI: 'false' }];
}

/** Generates contracts and database clients, where their sources changed. */
export async function generate() {
  const code = await nx('run-many', '--target=generate');
  if (code !== 0) throw new StepFailed('Code generation failed.');
}

/** Builds projects and their dependencies to dist/; unchanged ones come from Nx's cache. */
export async function build(...projects) {
  const code = await nx('run-many', '--target=build', `--projects=${projects.join(',')}`);
  if (code !== 0) throw new StepFailed('The build failed.');
}

const INPUTS = [
  'apps',
  'libs',
  'proto',
  'docs',
  'tools/build',
  'pnpm-lock.yaml',
  'tsconfig.base.json',
  'nx.json',
];
const GENERATED = new Set(['generated', 'node_modules']);

/**
 * Builds a program to run it, without the packages of tests. Nx, which needs a second to start, runs only if a source
 * file is newer than the built program.
 */
export async function buildToRun(project) {
  await install({ tests: false });
  const built = path.join(root, 'dist', project, 'main.js');
  if (existsSync(built) && INPUTS.every((input) => newestChangeMs(input) < statSync(built).mtimeMs)) return;
  const startedAt = new Date();
  await runStep('Build', ...nxCommand('run', `${project}:build`, '--output-style=static'));
  // Nx does not touch unchanged outputs.
  utimesSync(built, startedAt, startedAt);
}

function newestChangeMs(name) {
  const stats = statSync(path.join(root, name));
  if (!stats.isDirectory()) return stats.mtimeMs;
  const entries = readdirSync(path.join(root, name)).filter((entry) => !GENERATED.has(entry));
  return Math.max(0, ...entries.map((entry) => newestChangeMs(`${name}/${entry}`)));
}
