import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import { packageOf } from '../../build/bundle/bundle.mjs';
import { npmCommand, pnpmCommand } from './install.mjs';
import { capture, root, StepFailed } from './run.mjs';

/** The manifest of the project. */
export const projectManifest = () => JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));

/** What a built program imports, from dist. */
export function importsOf(program) {
  return JSON.parse(readFileSync(path.join(root, 'dist', program, 'imports.json'), 'utf8'));
}

/** The packages of these imports, in the versions of package.json. */
export function dependenciesOf(imports) {
  const { dependencies } = projectManifest();
  const packages = [...new Set(imports.map(({ path: imported }) => packageOf(imported)))].sort();
  const undeclared = packages.filter((each) => dependencies[each] === undefined);
  if (undeclared.length > 0) throw new StepFailed(`Not in "dependencies": ${undeclared.join(', ')}`);
  return Object.fromEntries(packages.map((each) => [each, dependencies[each]]));
}

/**
 * Installs the packages of the manifest in a folder, in the versions of the project's lock file, and writes the
 * `package-lock.json` that npm would write, with the checksums of that lock file.
 *
 * @param options of pnpm
 */
export async function installRuntimePackages(folder, ...options) {
  const files = ['pnpm-lock.yaml', 'pnpm-workspace.yaml'];
  for (const file of files) cpSync(path.join(root, file), path.join(folder, file));
  // Files that pnpm links would change in its store, too.
  const install = ['install', '--prod', '--no-frozen-lockfile', '--config.package-import-method=copy'];
  const [command, args, env] = pnpmCommand(...install, ...options);
  await captured(`pnpm ${install[0]}`, command, args, env, folder);
  for (const file of files) rmSync(path.join(folder, file));
  const lockOnly = ['--package-lock-only', '--omit-lockfile-registry-resolved'];
  await npm(folder, ['install', ...lockOnly, '--ignore-scripts', '--prefer-offline', '--loglevel=error']);
  const lockFile = path.join(folder, 'package-lock.json');
  const lock = withChecksums(JSON.parse(readFileSync(lockFile, 'utf8')));
  writeFileSync(lockFile, `${JSON.stringify(lock, null, 2)}\n`);
  // Commands, and pnpm's own state with the time.
  const modules = path.join(folder, 'node_modules');
  for (const entry of readdirSync(modules)) {
    if (entry.startsWith('.')) rmSync(path.join(modules, entry), { recursive: true });
  }
}

/** @param lock npm's, made from installed packages, whose checksums are unknown */
function withChecksums(lock) {
  const { packages } = parse(readFileSync(path.join(root, 'pnpm-lock.yaml'), 'utf8'));
  const entries = Object.entries(lock.packages).map(([at, entry]) => {
    if (at === '') return [at, entry];
    const name = `${at.replace(/^.*node_modules\//, '')}@${entry.version}`;
    const integrity = packages[name]?.resolution.integrity;
    if (integrity === undefined) throw new StepFailed(`Not in pnpm-lock.yaml: ${name}`);
    return [at, { ...entry, integrity }];
  });
  return { ...lock, packages: Object.fromEntries(entries) };
}

/** The packages of the package-lock.json in a folder in CycloneDX, as text. The same packages give the same bytes. */
export async function sbomOf(folder, ...options) {
  const sbom = JSON.parse(
    await npm(folder, ['sbom', '--package-lock-only', '--sbom-format=cyclonedx', ...options]),
  );
  delete sbom.serialNumber;
  delete sbom.metadata.timestamp;
  return `${JSON.stringify(sbom, null, 2)}\n`;
}

/** @returns its output */
export function npm(cwd, args) {
  const { command, args: before } = npmCommand();
  return captured(`npm ${args[0]}`, command, [...before, ...args, '--prefix', cwd], {}, cwd);
}

async function captured(name, command, args, env, cwd) {
  const { code, output } = await capture(command, args, env, { cwd, stderr: false });
  if (code !== 0) throw new StepFailed(`${name} failed (exit code ${code}).\n${output.trim()}`);
  return output;
}
