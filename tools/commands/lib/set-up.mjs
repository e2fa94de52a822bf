import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import path from 'node:path';
import { startProgress } from './console.mjs';
import { capture, root, runStep, runSteps, StepFailed } from './run.mjs';
import { filesUnder, forget, hashFiles, isFresh, markFresh } from './stamps.mjs';

const MINIMUM_NODE = [20, 19];

/** Everything between a bare clone and a runnable tree; each step is skipped when its inputs did not change. */
export async function setUp() {
  requireNode();
  await install();
  await generate();
}

function requireNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  const [wantedMajor, wantedMinor] = MINIMUM_NODE;
  if (major > wantedMajor || (major === wantedMajor && minor >= wantedMinor)) return;
  throw new StepFailed(
    `Node ${MINIMUM_NODE.join('.')} or newer is needed; this is ${process.version}. Install it and try again.`,
  );
}

/** The packages of the lock. */
export async function install() {
  const hash = hashFiles(['package.json', 'package-lock.json', '.npmrc']);
  if (isFresh('install', hash)) return;
  // Half an install must not look like a whole one.
  forget('install');
  const progress = startProgress('Installing packages (about a minute the first time)');
  // Not `npm ci`: it refuses a lock that was written where a platform's optional packages could not be seen.
  // No install scripts: nothing here needs one, and some would download things.
  const npm = npmCommand();
  const { code, output } = await capture(npm.command, [
    ...npm.args,
    'install',
    '--ignore-scripts',
    // The lock is read, not written: other versions of npm would write it in another form.
    '--no-save',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
  ]);
  if (code !== 0) {
    progress.failed();
    throw new StepFailed(`${output.trim()}\n\nnpm install failed (exit code ${code}).`);
  }
  progress.done();
  markFresh('install', hashFiles(['package.json', 'package-lock.json', '.npmrc']));
}

/** The npm that runs us, when it says where it is; else the one on the PATH. */
export function npmCommand() {
  const script = process.env.npm_execpath;
  if (script && /npm-cli\.js$/.test(script) && existsSync(script)) {
    return { command: process.execPath, args: [script] };
  }
  return { command: process.platform === 'win32' ? 'npm.cmd' : 'npm', args: [] };
}

export function prismaSchemas() {
  return filesUnder(['libs'], (file) => file.endsWith('/schema.prisma'));
}

function generatedFolders() {
  return [
    'libs/platform/contracts/src/generated',
    ...prismaSchemas().map((file) => file.replace('schema.prisma', 'generated')),
  ];
}

const exists = (file) => existsSync(path.join(root, file));

function generatorInputs() {
  return [
    'buf.yaml',
    'buf.gen.yaml',
    'package-lock.json',
    ...filesUnder(['proto'], (file) => file.endsWith('.proto')),
    ...prismaSchemas(),
  ];
}

const BUF = path.join('node_modules', '@bufbuild', 'buf', 'bin', 'buf');
/** Its own default is in the home folder, which a service account may not have. */
const BUF_ENVIRONMENT = { BUF_CACHE_DIR: path.join(root, 'node_modules', '.cache', 'buf') };

/** Generates the RPC contracts and the database clients. */
export async function generate({ force = false } = {}) {
  const hash = hashFiles(generatorInputs());
  if (!force && isFresh('generate', hash) && generatedFolders().every(exists)) return;
  forget('generate');
  await runStep('Generating contracts', BUF, ['generate'], BUF_ENVIRONMENT);
  await writeDescriptors();
  await runSteps('Generating database clients', prismaSchemas().map(prismaGenerate));
  markFresh('generate', hash);
}

/** What servers answer by reflection, as a module: it has to be in their bundles. */
async function writeDescriptors() {
  const folder = path.join(root, 'libs/platform/contracts/src/generated');
  const file = path.join(folder, 'descriptors.binpb');
  await runStep(
    'Describing contracts',
    BUF,
    ['build', '--exclude-source-info', '--output', file],
    BUF_ENVIRONMENT,
  );
  const text = readFileSync(file).toString('base64');
  rmSync(file);
  writeFileSync(path.join(folder, 'descriptors.ts'), `export const DESCRIPTORS_BASE64 =\n  '${text}';\n`);
}

function prismaGenerate(schema) {
  return {
    script: path.join('node_modules', 'prisma', 'build', 'index.js'),
    args: ['generate', '--schema', schema],
    env: {
      // Generating needs no engine, but Prisma would download one unless it believes that it has it.
      PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
      PRISMA_HIDE_UPDATE_MESSAGE: '1',
      CHECKPOINT_DISABLE: '1',
    },
  };
}

/** The public API's documentation and its viewer, which the dashboard's port serves. */
const DOCUMENTS = {
  'documents/openapi.json': 'docs/openapi.json',
  'documents/api-reference.html': 'docs/api-reference.html',
  'documents/swagger-ui-bundle.js': 'node_modules/swagger-ui-dist/swagger-ui-bundle.js',
  'documents/swagger-ui.css': 'node_modules/swagger-ui-dist/swagger-ui.css',
  'documents/swagger-ui-LICENSE': 'node_modules/swagger-ui-dist/LICENSE',
  'documents/swagger-ui-bundle.js.LICENSE.txt':
    'node_modules/swagger-ui-dist/swagger-ui-bundle.js.LICENSE.txt',
  'documents/swagger-ui-NOTICE': 'node_modules/swagger-ui-dist/NOTICE',
};

/** What a program reads beside its bundle: its file in dist/<program>/, and where that comes from. */
const BUILD_FILES = { gateway: DOCUMENTS, 'dashboard-api': DOCUMENTS };

/** The services of a cluster, each a program of its own. */
const SERVICES = [
  'auth',
  'rate-limit',
  'billing-ledger',
  'usage-aggregator',
  'generation-query',
  'inference-router',
  'edge-proxy',
  'dashboard-api',
];

/** What `npm run cluster` needs. */
export const CLUSTER_PROGRAMS = [...SERVICES, 'cluster'];

/** Those that there are container images of. */
export const IMAGE_PROGRAMS = [...SERVICES, 'gateway', 'model-emulator', 'demo'];

const BUILD_ENTRIES = {
  gateway: 'apps/gateway/src/main.ts',
  ...Object.fromEntries(SERVICES.map((service) => [service, `apps/${service}/src/main.ts`])),
  cluster: 'tools/verify/cluster/src/main.ts',
  chaos: 'tools/verify/chaos/src/main.ts',
  kubernetes: 'tools/verify/kubernetes/src/main.ts',
  'model-emulator': 'libs/demo/model-emulator/src/main.ts',
  demo: 'apps/demo/src/main.ts',
  bench: 'tools/measure/bench/src/main.ts',
  conformance: 'apps/e2e/conformance/main.ts',
  documents: 'tools/build/api-docs/src/main.ts',
  screenshots: 'apps/e2e/screenshots/main.ts',
};

/** Programs of threads, each a bundle of its own beside its program's. */
const BODY_WORKER = {
  'body-worker.js': 'libs/domains/edge-proxy/src/adapters/worker-threads/body-worker.ts',
};
const BUILD_THREADS = { gateway: BODY_WORKER, 'edge-proxy': BODY_WORKER };

/** What the web app imports of this repository. */
const DASHBOARD_LIBRARIES = ['libs/platform/base', 'libs/domains/dashboard-contract'];

/** Every bundle of a program: its file in dist/<program>/, and its entry. */
function bundlesOf(program) {
  return Object.entries({ 'main.js': BUILD_ENTRIES[program], ...BUILD_THREADS[program] });
}

/**
 * Packages that become part of the bundles, with what they need: of many files each, all of them read at every
 * start, which takes a fifth less CPU with these in place. No package that stays outside loads one of them: it
 * would have a copy of its own. A test sees to it.
 */
const BUNDLED_PACKAGES = ['@bufbuild/protobuf', 'express', 'prom-client', 'undici', 'yaml', 'zod'];

/** What bundled packages share with those outside: it keeps what is registered with it. */
const SHARED_PACKAGE = '@opentelemetry/api';

const keepOtherPackagesOutside = {
  name: 'keep other packages outside',
  setup(build) {
    build.onResolve({ filter: /^[^./]/ }, ({ path: imported, kind, resolveDir }) => {
      if (kind === 'entry-point' || imported.startsWith('@gateway/')) return undefined;
      const name = packageOf(imported);
      const comesInside = BUNDLED_PACKAGES.includes(name) || isInPackage(resolveDir);
      return comesInside && name !== SHARED_PACKAGE ? undefined : { path: imported, external: true };
    });
  },
};

const BUNDLE = {
  absWorkingDir: root,
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'cjs',
  plugins: [keepOtherPackagesOutside],
  tsconfig: 'tsconfig.base.json',
  loader: { '.sql': 'text' },
  sourcemap: true,
  // Node reads a bundle and its map at each start, and keeps both; with a comment in Cyrillic, at two bytes a sign.
  minifyWhitespace: true,
  sourcesContent: false,
  logLevel: 'silent',
};

/** `name` of `name/part`, `@scope/name` of `@scope/name/part`. */
export function packageOf(imported) {
  return imported.match(/^(@[^/]+\/)?[^/]+/)[0];
}

function isInPackage(folder) {
  return path.relative(root, folder).split(path.sep).includes('node_modules');
}

/**
 * What a program uses of packages, be they in its bundles or beside them, for whoever lists them with their
 * licences: the `path`, and `kind`, as esbuild tells requires from imports.
 */
export async function importsOf(program) {
  const { build: bundle, stop } = await import('esbuild');
  const imports = [];
  for (const [file, entry] of bundlesOf(program)) {
    const { metafile } = await bundle({
      ...BUNDLE,
      plugins: [],
      packages: 'external',
      entryPoints: [entry],
      outfile: file,
      write: false,
      metafile: true,
    });
    imports.push(...Object.values(metafile.outputs).flatMap((output) => output.imports));
  }
  await stop();
  return imports.filter(({ path: imported, external }) => external && !isBuiltin(imported));
}

/** Bundles all services to a folder other than theirs, with sources that the plugins change. */
export async function buildServicesWith(plugins, folder) {
  const { build: bundle, stop } = await import('esbuild');
  for (const service of SERVICES) {
    for (const [file, entry] of bundlesOf(service)) {
      await bundle({
        ...BUNDLE,
        plugins: [...plugins, ...BUNDLE.plugins],
        entryPoints: [entry],
        outfile: path.join(folder, service, file),
      });
    }
    copyBuildFiles(service, folder);
  }
  await stop();
}

export function servesDashboard(program) {
  return program === 'gateway' || program === 'dashboard-api';
}

/** Bundles the named programs to dist/<name>/main.js, and their threads beside it. Most packages stay outside. */
export async function build(names) {
  if (names.some(servesDashboard)) await buildDashboard();
  const hash = hashFiles([
    'package-lock.json',
    'tsconfig.base.json',
    ...filesUnder(
      ['apps', 'libs', 'tools'],
      (file) =>
        /\.(ts|sql|mjs)$/.test(file) && !file.endsWith('.spec.ts') && !file.startsWith('apps/dashboard/'),
    ),
    ...filesUnder(['proto'], (file) => file.endsWith('.proto')),
    ...prismaSchemas(),
    ...filesUnder(['docs'], (file) => /\.(json|html)$/.test(file)),
  ]);
  const stale = names.filter(
    (name) =>
      !isFresh(`build-${name}`, hash) ||
      !bundlesOf(name).every(([file]) => exists(path.join('dist', name, file))),
  );
  if (stale.length === 0) return;
  const progress = startProgress(`Building ${listOf(stale)}`);
  const { build: bundle, stop } = await import('esbuild');
  try {
    for (const name of stale) {
      for (const [file, entry] of bundlesOf(name)) {
        await bundle({ ...BUNDLE, entryPoints: [entry], outfile: `dist/${name}/${file}` });
      }
      copyBuildFiles(name);
      markFresh(`build-${name}`, hash);
    }
  } catch (error) {
    progress.failed();
    const details = (error.errors ?? []).map(
      ({ text, location }) => `${location ? `${location.file}:${location.line}: ` : ''}${text}`,
    );
    throw new StepFailed(details.join('\n') || String(error));
  }
  // Its own process would stay for as long as this one, which may go on as the gateway.
  await stop();
  progress.done();
}

/** A line long at most. */
function listOf(names) {
  return names.length > 4 ? `${names.length} programs` : names.join(', ');
}

/** The web app, as files in dist/dashboard that the dashboard API serves. */
async function buildDashboard() {
  const hash = hashFiles([
    'package-lock.json',
    'tsconfig.base.json',
    ...filesUnder(['apps/dashboard', ...DASHBOARD_LIBRARIES], (file) => !/\.spec\.tsx?$/.test(file)),
  ]);
  if (isFresh('build-dashboard', hash) && exists('dist/dashboard/index.html')) return;
  forget('build-dashboard');
  await runStep('Building the dashboard', path.join('node_modules', 'vite', 'bin', 'vite.js'), [
    'build',
    '--config',
    'apps/dashboard/vite.config.mjs',
    '--logLevel',
    'warn',
  ]);
  markFresh('build-dashboard', hash);
}

function copyBuildFiles(program, folder = 'dist') {
  for (const [name, source] of Object.entries(BUILD_FILES[program] ?? {})) {
    const target = path.join(root, folder, program, name);
    mkdirSync(path.dirname(target), { recursive: true });
    copyFileSync(path.join(root, source), target);
  }
}
