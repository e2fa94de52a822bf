import { copyFileSync, cpSync, lutimesSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { documentedSettings } from './process-report.mjs';
import { root } from './run.mjs';
import { CLUSTER_PROJECTS } from './nx.mjs';
import { dependenciesOf, layOutPackages, projectManifest } from './runtime-packages.mjs';

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
  mkdirSync(app, { recursive: true });
  mkdirSync(path.join(folder, 'state'));
  cpSync(process.execPath, path.join(folder, 'node'));
  layOutLibraries(folder);
  cpSync(path.join(root, 'dist', program), path.join(app, 'dist', 'program'), { recursive: true });
  if (program === 'gateway' || program === 'dashboard-api') {
    cpSync(path.join(root, 'dist', 'dashboard'), path.join(app, 'dist', 'dashboard'), { recursive: true });
  }
  layOutHealthCheck(program, app);
  layOutReport(app);
  const { name, version, license } = projectManifest();
  const manifest = { name, version, license, private: true, dependencies: dependenciesOf(program) };
  writeFileSync(path.join(app, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  await layOutPackages(program, app);
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

/** Modification times are part of a layer's digest. */
function resetTimes(folder) {
  const entries = readdirSync(folder, { recursive: true });
  for (const entry of ['', ...entries]) lutimesSync(path.join(folder, entry), 0, 0);
}
