import { copyFileSync, cpSync, lutimesSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { documentedSettings } from './process-report.mjs';
import { capture, root, StepFailed } from './run.mjs';
import { CLUSTER_PROJECTS } from './nx.mjs';
import {
  dependenciesOf,
  importsOf,
  installRuntimePackages,
  projectManifest,
  sbomOf,
} from './runtime-packages.mjs';

/** Files for other databases, bundlers or editors, which would more than double the image's size. */
const EXCLUDED = [
  /\.(ts|mts|cts|map|md|markdown)$/,
  /^node_modules\/bintrees\/test\//,
  // Only the vocabularies and the regular expressions that split text are used.
  /^node_modules\/gpt-tokenizer\/(dist|src|esm)\//,
  /^node_modules\/gpt-tokenizer\/cjs\/(?!package\.json$|encodingParams\/constants\.js$)/,
  /^node_modules\/gpt-tokenizer\/data\/(?!(o200k_base|cl100k_base)\.tiktoken$)/,
  // The bundle of a thread has the library, which programs load from `cjs` only to check the image.
  /^node_modules\/@cantoo\/pdf-lib\/(dist|src|es|ts3\.4)\//,
  // Only the query compiler for which the clients are generated is used.
  /^node_modules\/@prisma\/client\/runtime\/(?!client\.js$|query_compiler_small_bg\.postgresql\.)/,
  /^node_modules\/@prisma\/client\/runtime\/.*\.mjs$/,
];

/** The programs that have a container image. */
export const IMAGE_PROGRAMS = [
  ...CLUSTER_PROJECTS.filter((project) => project !== 'cluster'),
  'gateway',
  'model-emulator',
  'demo',
  'certificates',
];

/** Health URLs of programs without an admin port. */
const HEALTH_URLS = { 'model-emulator': 'http://127.0.0.1:8090/v1/models' };

/**
 * Writes the files of an image: the `node` binary; `lib`, with its libraries that
 * base images lack; `app`, with the program in dist/program, its packages, their
 * SBOM (CycloneDX) and the health check; and `state`, an empty folder. The same sources give the same bytes.
 */
export async function layOutImage(program, folder) {
  rmSync(folder, { recursive: true, force: true });
  const app = path.join(folder, 'app');
  mkdirSync(path.join(app, 'node_modules'), { recursive: true });
  mkdirSync(path.join(folder, 'state'));
  cpSync(process.execPath, path.join(folder, 'node'));
  layOutLibraries(folder);
  cpSync(path.join(root, 'dist', program), path.join(app, 'dist', 'program'), { recursive: true });
  if (program === 'gateway' || program === 'dashboard-api') {
    cpSync(path.join(root, 'dist', 'dashboard'), path.join(app, 'dist', 'dashboard'), { recursive: true });
  }
  layOutHealthCheck(program, app);
  layOutReport(app);
  const imports = importsOf(program);
  await installPackages(app, imports);
  for (const file of filesOf(app)) {
    if (file.startsWith('node_modules/') && EXCLUDED.some((pattern) => pattern.test(file))) {
      rmSync(path.join(app, file));
    }
  }
  await loadAll(app, imports);
  resetTimes(folder);
}

/**
 * Writes libatomic if this node needs it, as since version 25. Images with the C and C++ libraries do not have it.
 *
 * @public a test loads it in a process of its own
 */
export function layOutLibraries(folder) {
  mkdirSync(path.join(folder, 'lib'));
  for (const file of process.report.getReport().sharedObjects) {
    const name = path.basename(file);
    if (name.startsWith('libatomic.so.')) copyFileSync(file, path.join(folder, 'lib', name));
  }
}

/**
 * Writes the health check and, for a program without an admin port, the URL to request.
 *
 * @public a test loads it in a process of its own
 */
export function layOutHealthCheck(program, app) {
  cpSync(path.join(root, 'docker', 'health.mjs'), path.join(app, 'health.mjs'));
  writeFileSync(path.join(app, 'health.json'), `${JSON.stringify({ url: HEALTH_URLS[program] })}\n`);
}

/**
 * Writes the diagnostic report of a process, which `npm run support-bundle -- --pods` runs.
 *
 * @public a test loads it in a process of its own
 */
export function layOutReport(app) {
  const parts = path.join(app, 'report');
  mkdirSync(parts);
  cpSync(path.join(root, 'docker', 'report.mjs'), path.join(app, 'report.mjs'));
  for (const name of ['process-report.mjs', 'without-secrets.mjs']) {
    cpSync(path.join(root, 'tools', 'commands', 'lib', name), path.join(parts, name));
  }
  const names = documentedSettings(path.join(root, 'docs'));
  writeFileSync(path.join(parts, 'settings.json'), `${JSON.stringify(names)}\n`);
}

/** A program loads some packages lazily, so a missing one must fail the build of the image. */
async function loadAll(app, imports) {
  const script = `
    import { readFileSync } from 'node:fs';
    import { createRequire } from 'node:module';
    const require = createRequire(process.cwd() + '/dist/program/main.js');
    for (const { path, kind } of ${JSON.stringify(imports)}) {
      if (kind === 'dynamic-import') await import(path);
      else if (kind === 'require-resolve') readFileSync(require.resolve(path));
      else require(path);
    }
    process.exit();`;
  const { code, output } = await capture(
    process.execPath,
    ['--input-type=module', '--eval', script],
    {},
    { cwd: app },
  );
  if (code !== 0) throw new StepFailed(`The image lacks a package that the program loads.\n${output.trim()}`);
}

/** In exactly the versions of the lock file, with their SBOM. */
async function installPackages(app, imports) {
  const { name, version, license } = projectManifest();
  const manifest = { name, version, license, private: true, dependencies: dependenciesOf(imports) };
  writeFileSync(path.join(app, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  await installRuntimePackages(app, '--no-optional');
  writeFileSync(path.join(app, 'sbom.cdx.json'), await sbomOf(app, '--omit=optional'));
  rmSync(path.join(app, 'package-lock.json'));
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

/** Modification times are part of a layer's digest. */
function resetTimes(folder) {
  const entries = readdirSync(folder, { recursive: true });
  for (const entry of ['', ...entries]) lutimesSync(path.join(folder, entry), 0, 0);
}
