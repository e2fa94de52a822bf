import { readFileSync } from 'node:fs';
import path from 'node:path';
import { packageOf } from '../../build/bundle/bundle.mjs';
import { npmCommand } from './install.mjs';
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

/** The packages of a folder in CycloneDX, as text. The same packages give the same bytes. */
export async function sbomOf(folder, ...options) {
  const sbom = JSON.parse(await npm(folder, ['sbom', '--sbom-format=cyclonedx', ...options]));
  delete sbom.serialNumber;
  delete sbom.metadata.timestamp;
  return `${JSON.stringify(sbom, null, 2)}\n`;
}

/** @returns its output */
export async function npm(cwd, args) {
  const { command, args: before } = npmCommand();
  const { code, output } = await capture(
    command,
    [...before, ...args, '--prefix', cwd],
    {},
    { cwd, stderr: false },
  );
  if (code !== 0) throw new StepFailed(`npm ${args[0]} failed (exit code ${code}).\n${output.trim()}`);
  return output;
}
