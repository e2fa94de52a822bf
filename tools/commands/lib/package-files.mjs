import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { root } from './run.mjs';
import { dependenciesOf, layOutPackages, npm, projectManifest } from './runtime-packages.mjs';

/** Files of the package, from those of the project. */
const FILES = {
  'bin/inference-gateway.mjs': 'tools/commands/bin/inference-gateway.mjs',
  'lib/follow-npm.mjs': 'tools/commands/lib/follow-npm.mjs',
  'lib/node-problem.mjs': 'tools/commands/lib/node-problem.mjs',
  'lib/run-gateway.mjs': 'tools/commands/lib/run-gateway.mjs',
  'dist/gateway': 'dist/gateway',
  'dist/dashboard': 'dist/dashboard',
  'models.yaml': 'models.yaml',
  'README.md': 'tools/build/package/README.md',
  LICENSE: 'LICENSE',
};

/**
 * Packs the built gateway as an npm package: bundles, dashboard, demo models, a command, and the packages that it loads. Only
 * the embedded PostgreSQL is installed from the registry, for the platform. The same sources give the same bytes with the
 * same npm.
 *
 * @param repository the URL of the sources, which a registry compares with the provenance
 * @returns the path of the archive in `folder`
 */
export async function packGateway(folder, repository) {
  const staged = path.join(folder, 'package');
  rmSync(staged, { recursive: true, force: true });
  mkdirSync(staged, { recursive: true });
  for (const [file, source] of Object.entries(FILES)) {
    cpSync(path.join(root, source), path.join(staged, file), { recursive: true });
  }
  rmSync(path.join(staged, 'dist/gateway/imports.json'));
  const manifest = packageManifest(repository);
  writeFileSync(path.join(staged, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  await layOutPackages('gateway', staged);
  await npm(staged, 'pack', '--pack-destination', folder, '--ignore-scripts', '--loglevel=error');
  return path.join(folder, `inference-gateway-${manifest.version}.tgz`);
}

/** @public a test loads it in a process of its own */
export function packageManifest(repository) {
  const { name, version, license, description, engines, optionalDependencies } = projectManifest();
  const dependencies = dependenciesOf('gateway');
  return {
    ...{ name, version, license, description, engines },
    ...(repository !== undefined && { repository: { type: 'git', url: repository } }),
    bin: { 'inference-gateway': 'bin/inference-gateway.mjs' },
    dependencies,
    bundleDependencies: Object.keys(dependencies),
    optionalDependencies,
  };
}
