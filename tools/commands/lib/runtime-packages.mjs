import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import { packageOf } from '../../build/bundle/bundle.mjs';
import { npmCommand, pnpmCommand } from './install.mjs';
import { capture, root, StepFailed } from './run.mjs';

/** Files for other databases, platforms, bundlers or editors: three quarters of all bytes. Licenses stay. */
const EXCLUDED = [
  /(?<!(license|licence|notice|copying)[^/]*)\.(ts|mts|cts|map|md|markdown)$/i,
  // Commands, and the state of pnpm, which contains the time.
  /^node_modules\/(.*\/)?\.(bin|pnpm|modules)\b/,
  /^node_modules\/(?!google-auth-library\/).*\/(\.github|browser|dist-es|react-native|test|workerd)\//,
  // Only the vocabularies and the regular expressions that split text are used.
  /^node_modules\/gpt-tokenizer\/(dist|src|esm)\//,
  /^node_modules\/gpt-tokenizer\/cjs\/(?!package\.json$|encodingParams\/constants\.js$)/,
  /^node_modules\/gpt-tokenizer\/data\/(?!(o200k_base|cl100k_base)\.tiktoken$)/,
  // The bundle of a thread has the library, which programs load from `cjs` only to check what is installed.
  /^node_modules\/@cantoo\/pdf-lib\/(dist|src|es|ts3\.4)\//,
  // Only the query compiler for which the clients are generated is used.
  /^node_modules\/@prisma\/client\/runtime\/(?!client\.js$|query_compiler_small_bg\.postgresql\.)/,
  /^node_modules\/@prisma\/client\/runtime\/.*\.mjs$/,
];

const LOCK_FILES = ['pnpm-lock.yaml', 'pnpm-workspace.yaml'];

/** The manifest of the project. */
export const projectManifest = () => JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));

/** The packages that a built program loads, in the versions of package.json. */
export function dependenciesOf(program) {
  const { dependencies } = projectManifest();
  const packages = [...new Set(importsOf(program).map(({ path: imported }) => packageOf(imported)))].sort();
  const undeclared = packages.filter((each) => dependencies[each] === undefined);
  if (undeclared.length > 0) throw new StepFailed(`Not in "dependencies": ${undeclared.join(', ')}`);
  return Object.fromEntries(packages.map((each) => [each, dependencies[each]]));
}

/** What a built program imports, from dist. */
function importsOf(program) {
  return JSON.parse(readFileSync(path.join(root, 'dist', program, 'imports.json'), 'utf8'));
}

/**
 * Installs the packages of a program into a folder that has its package.json, in exactly the versions of the lock file
 * and without the files that no program uses, and writes their list to sbom.cdx.json. The same packages give the same bytes.
 */
export async function layOutPackages(program, folder) {
  for (const file of LOCK_FILES) cpSync(path.join(root, file), path.join(folder, file));
  // A linked file would be the one in the store of pnpm.
  const options = ['--prod', '--no-optional', '--no-frozen-lockfile', '--config.package-import-method=copy'];
  await captured(folder, 'pnpm install', ...pnpmCommand('install', ...options));
  for (const file of LOCK_FILES) rmSync(path.join(folder, file));
  writeFileSync(path.join(folder, 'sbom.cdx.json'), await sbomOf(folder));
  for (const file of filesOf(path.join(folder, 'node_modules'))) {
    const name = `node_modules/${file}`;
    if (EXCLUDED.some((pattern) => pattern.test(name))) rmSync(path.join(folder, name));
  }
  await loadAll(program, folder);
}

/** The installed packages in CycloneDX, with the checksums of the lock file, as text. */
async function sbomOf(folder) {
  const { packages } = parse(readFileSync(path.join(root, 'pnpm-lock.yaml'), 'utf8'));
  const sbom = JSON.parse(await npm(folder, 'sbom', '--sbom-format=cyclonedx'));
  delete sbom.serialNumber;
  delete sbom.metadata.timestamp;
  for (const component of sbom.components) {
    const [, checksum] = packages[component['bom-ref']].resolution.integrity.split('sha512-');
    component.hashes = [{ alg: 'SHA-512', content: Buffer.from(checksum, 'base64').toString('hex') }];
  }
  return `${JSON.stringify(sbom, null, 2)}\n`;
}

/** Runs npm in a folder. @returns its output */
export function npm(folder, ...args) {
  const { command, args: before } = npmCommand();
  return captured(folder, `npm ${args[0]}`, command, [...before, ...args]);
}

async function captured(cwd, name, command, args, env = {}) {
  const { code, output } = await capture(command, args, env, { cwd, stderr: false });
  if (code !== 0) throw new StepFailed(`${name} failed (exit code ${code}).\n${output.trim()}`);
  return output;
}

function filesOf(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) =>
      path
        .relative(folder, path.join(entry.parentPath ?? entry.path, entry.name))
        .split(path.sep)
        .join('/'),
    );
}

/** A program loads some packages lazily, so a missing one must fail here. */
async function loadAll(program, folder) {
  const script = `
    import { readFileSync } from 'node:fs';
    import { createRequire } from 'node:module';
    const require = createRequire(process.cwd() + '/dist/main.js');
    for (const { path, kind } of ${JSON.stringify(importsOf(program))}) {
      if (kind === 'dynamic-import') await import(path);
      else if (kind === 'require-resolve') readFileSync(require.resolve(path));
      else require(path);
    }
    process.exit();`;
  const { code, output } = await capture(
    process.execPath,
    ['--input-type=module', '--eval', script],
    {},
    { cwd: folder },
  );
  if (code !== 0) throw new StepFailed(`A package that ${program} loads is missing.\n${output.trim()}`);
}
