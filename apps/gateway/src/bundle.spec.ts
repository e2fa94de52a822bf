import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { builtinModules, createRequire } from 'node:module';
import path from 'node:path';

const APPS = path.resolve(__dirname, '../..');
/** The model emulator has no package inside: it neither logs nor counts. */
const PROGRAMS = readdirSync(APPS).filter(
  (name) => name !== 'model-emulator' && existsSync(path.join(APPS, name, 'src/main.ts')),
);

const bundleOf = (program: string) => path.resolve(__dirname, `../../../dist/${program}/main.js`);

/** By their names, with a path where the code names one. */
function loadedPackages(program = 'gateway'): readonly string[] {
  const bundle = bundleOf(program);
  if (!existsSync(bundle)) throw new Error(`The ${program} is not built: run \`npm test\`.`);
  const names = [...readFileSync(bundle, 'utf8').matchAll(/\b(?:require|import)\("([^"]+)"\)/g)].map(
    ([, name]) => name as string,
  );
  // So that no test passes by reading nothing.
  expect(names).toContain('pino');
  return names;
}

describe('the built gateway', () => {
  it('does not load what nothing in one process speaks: gRPC, Kafka and Redis', () => {
    const packages = loadedPackages();
    for (const unused of ['@grpc/grpc-js', 'kafkajs', 'ioredis']) expect(packages).not.toContain(unused);
  });

  it('reads vocabularies as data: as programs they take ten times the memory', () => {
    const ofTokenizer = loadedPackages().filter((name) => name.startsWith('gpt-tokenizer'));
    expect([...new Set(ofTokenizer)]).toEqual(['gpt-tokenizer/encodingParams/constants']);
  });

  it('has in it the packages that take long to load from their files', () => {
    expect(bundledPackages('gateway')).toEqual(
      expect.arrayContaining(['express', 'prom-client', 'undici', 'yaml', 'zod']),
    );
  });

  it('has no sign that would take two bytes for each of its others', () => {
    expect(/^[\x00-\xff]*$/.test(readFileSync(bundleOf('gateway'), 'utf8'))).toBe(true);
  });
});

it.each(PROGRAMS)(
  '%s has one copy of what keeps a state: no package is inside and loaded from outside, too',
  (program) => {
    const inside = bundledPackages(program);
    const outside = withDependencies(bundleOf(program), loadedPackages(program).map(packageOf));
    // So that no test passes by reading nothing.
    expect(inside).toContain('prom-client');
    expect(outside).toEqual(expect.arrayContaining(['@opentelemetry/api', 'pino', 'sonic-boom']));
    // Of functions alone; a second copy is only as large.
    const STATELESS = ['cookie', 'ipaddr.js', 'once', 'wrappy'];
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

/** The packages and all that they load, as they are installed. */
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
