import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { builtinModules, createRequire } from 'node:module';
import path from 'node:path';

const APPS = path.resolve(__dirname, '../..');
/** These bundle no packages: they have no logs or metrics. */
const WITHOUT_PACKAGES = ['certificates', 'model-emulator'];
const PROGRAMS = readdirSync(APPS).filter(
  (name) => !WITHOUT_PACKAGES.includes(name) && existsSync(path.join(APPS, name, 'src/main.ts')),
);

const bundleOf = (program: string) => path.resolve(__dirname, `../../../dist/${program}/main.js`);

/** Names of imported packages, with a path if the import has one. */
function loadedPackages(program = 'gateway'): readonly string[] {
  const bundle = bundleOf(program);
  if (!existsSync(bundle)) throw new Error(`The ${program} is not built: run \`npm test\`.`);
  const names = [...readFileSync(bundle, 'utf8').matchAll(/\b(?:require|import)\("([^"]+)"\)/g)].map(
    ([, name]) => name as string,
  );
  // Guards against passing without reading anything.
  expect(names).toContain('pino');
  return names;
}

describe('the built gateway', () => {
  it('does not load gRPC, Kafka and Redis, which a single process does not use', () => {
    const packages = loadedPackages();
    for (const unused of ['@grpc/grpc-js', 'kafkajs', 'ioredis']) expect(packages).not.toContain(unused);
  });

  it('reads vocabularies as data, since loading them as modules uses ten times the memory', () => {
    const ofTokenizer = loadedPackages().filter((name) => name.startsWith('gpt-tokenizer'));
    expect([...new Set(ofTokenizer)]).toEqual(['gpt-tokenizer/encodingParams/constants']);
  });

  it('bundles the packages that are slow to load from separate files', () => {
    expect(bundledPackages('gateway')).toEqual(
      expect.arrayContaining(['express', 'prom-client', 'undici', 'yaml', 'zod']),
    );
  });
});

it.each(PROGRAMS)('%s contains only ASCII, since any other character would double its memory', (program) => {
  const folder = path.dirname(bundleOf(program));
  const bundles = readdirSync(folder).filter((name) => name.endsWith('.js'));
  expect(bundles).toContain('main.js');
  for (const name of bundles) {
    const others = readFileSync(path.join(folder, name), 'utf8').match(/[^\x00-\x7f]+/g);
    expect([name, others]).toEqual([name, null]);
  }
});

it.each(PROGRAMS)(
  '%s has one copy of each stateful package: none is both bundled and loaded from node_modules',
  (program) => {
    const inside = bundledPackages(program);
    const outside = withDependencies(bundleOf(program), loadedPackages(program).map(packageOf));
    // Guards against passing without reading anything.
    expect(inside).toContain('prom-client');
    expect(outside).toEqual(expect.arrayContaining(['@opentelemetry/api', 'pino', 'sonic-boom']));
    // Stateless, or set by the environment (debug): a second copy only costs memory.
    const STATELESS = ['cookie', 'debug', 'ipaddr.js', 'ms', 'once', 'wrappy'];
    expect(inside.filter((name) => outside.includes(name) && !STATELESS.includes(name))).toEqual([]);
  },
);

/** `name` of `name/part`. */
function packageOf(imported: string): string {
  return /^(?:@[^/]+\/)?[^/]+/.exec(imported)?.[0] ?? imported;
}

function bundledPackages(program: string): readonly string[] {
  const { sources } = JSON.parse(readFileSync(`${bundleOf(program)}.map`, 'utf8')) as { sources: string[] };
  const names = sources.map((source) => /.*\/node_modules\/(.+)$/.exec(source)?.[1]);
  return [...new Set(names.filter((name) => name !== undefined).map(packageOf))];
}

/** The installed packages and their transitive dependencies. */
function withDependencies(bundle: string, names: readonly string[]): readonly string[] {
  const found = new Map<string, string>();
  const visit = (name: string, from: string): void => {
    const file = manifestOf(name, from);
    if (file === undefined || found.has(file)) return;
    found.set(file, name);
    const { dependencies } = JSON.parse(readFileSync(file, 'utf8')) as { dependencies?: object };
    for (const dependency of Object.keys(dependencies ?? {})) visit(dependency, file);
  };
  for (const name of names) if (!builtinModules.includes(name)) visit(name, bundle);
  return [...found.values()];
}

function manifestOf(name: string, from: string): string | undefined {
  const folders = createRequire(from).resolve.paths(name) ?? [];
  return folders.map((folder) => path.join(folder, name, 'package.json')).find(existsSync);
}
