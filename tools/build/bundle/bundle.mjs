// Bundles programs with esbuild. Most packages stay external; plugins may transform sources.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import path from 'node:path';
import { build } from 'esbuild';
import { lineMap } from './line-map.mjs';

const root = path.resolve(import.meta.dirname, '../../..');

/**
 * Packages that are bundled, with their dependencies: each consists of many files, and loading them separately uses 25 %
 * more CPU at startup. No external package may import one of them, since it would load a second copy
 * (apps/gateway/src/bundle.spec.ts).
 */
const BUNDLED_PACKAGES = [
  '@bufbuild/protobuf',
  '@cantoo/pdf-lib',
  'express',
  'prom-client',
  'undici',
  'yaml',
  'zod',
];

/** Holds global registrations, so bundled and external packages must share one copy. */
const SHARED_PACKAGE = '@opentelemetry/api';

const externalPackages = {
  name: 'external packages',
  setup({ onResolve }) {
    onResolve({ filter: /^[^./]/ }, ({ path: imported, kind, resolveDir }) => {
      if (kind === 'entry-point' || imported.startsWith('@gateway/')) return undefined;
      const name = packageOf(imported);
      const isBundled = BUNDLED_PACKAGES.includes(name) || isPackageFile(path.relative(root, resolveDir));
      return isBundled && name !== SHARED_PACKAGE ? undefined : { path: imported, external: true };
    });
  },
};

/** `name` of `name/part`, `@scope/name` of `@scope/name/part`. */
export function packageOf(imported) {
  return imported.match(/^(@[^/]+\/)?[^/]+/)[0];
}

function isPackageFile(file) {
  return file.split(/[\\/]/).includes('node_modules');
}

/**
 * Bundles one program.
 *
 * @returns the imports of packages in the project's own sources, bundled or not: `path`, and `kind` as in esbuild.
 */
export async function bundle(entry, outfile, plugins = []) {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: [entry],
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    plugins: [...plugins, externalPackages],
    tsconfig: 'tsconfig.base.json',
    loader: { '.sql': 'text' },
    sourcemap: true,
    sourcesContent: false,
    // Node keeps a bundle in memory, with two bytes for each character unless all are ASCII. Only licenses are not.
    minifyWhitespace: true,
    legalComments: 'external',
    metafile: true,
    logLevel: 'warning',
  });
  const mapFile = path.resolve(root, `${outfile}.map`);
  writeFileSync(mapFile, JSON.stringify(lineMap(JSON.parse(readFileSync(mapFile, 'utf8')))));
  return Object.entries(metafile.inputs)
    .filter(([file]) => !isPackageFile(file))
    .flatMap(([, { imports }]) => imports)
    .map(({ path: resolved, original = resolved, kind }) => ({ path: original, kind }))
    .filter(({ path: imported }) => /^(?!@gateway\/)[^./]/.test(imported) && !isBuiltin(imported));
}

/** Bundles `outfile=entry` pairs, and writes imports.json, from which the images install packages. */
async function main(pairs) {
  const imports = [];
  for (const pair of pairs) {
    const [outfile, entry] = pair.split('=');
    imports.push(...(await bundle(entry, outfile)));
  }
  const folder = path.resolve(root, path.dirname(pairs[0].split('=')[0]));
  mkdirSync(folder, { recursive: true });
  const unique = new Map(imports.map((each) => [`${each.kind} ${each.path}`, each]));
  writeFileSync(path.join(folder, 'imports.json'), `${JSON.stringify([...unique.values()], null, 2)}\n`);
}

if (process.argv[1] === import.meta.filename) await main(process.argv.slice(2));
