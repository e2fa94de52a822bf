import { existsSync, readFileSync } from 'node:fs';
import { builtinModules, createRequire } from 'node:module';
import path from 'node:path';

const bundle = path.resolve(__dirname, '../../../dist/gateway/main.js');

/** By their names, with a path where the code names one. */
function loadedPackages(): readonly string[] {
  if (!existsSync(bundle)) throw new Error('The gateway is not built: run `npm run build`, or `npm test`.');
  const names = [...readFileSync(bundle, 'utf8').matchAll(/\b(?:require|import)\("([^"]+)"\)/g)].map(
    ([, name]) => name as string,
  );
  // So that no test passes by reading nothing.
  expect(names).toContain('pg');
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

  it('has one copy of what keeps a state: no package is inside and loaded from outside, too', () => {
    const inside = bundledPackages();
    expect(inside).toEqual(expect.arrayContaining(['express', 'prom-client', 'undici', 'zod']));
    expect(inside).not.toContain('@opentelemetry/api');
    const outside = withDependencies(loadedPackages().map(packageOf));
    expect(outside).toEqual(expect.arrayContaining(['@opentelemetry/api', 'pg', 'pg-protocol']));
    // Of functions alone; a second copy is only as large.
    const STATELESS = ['cookie', 'ipaddr.js', 'once', 'wrappy'];
    expect(inside.filter((name) => outside.includes(name) && !STATELESS.includes(name))).toEqual([]);
  });

  it('has no sign that would take two bytes for each of its others', () => {
    expect(/^[\x00-\xff]*$/.test(readFileSync(bundle, 'utf8'))).toBe(true);
  });
});

/** `name` of `name/part`. */
function packageOf(imported: string): string {
  return /^(?:@[^/]+\/)?[^/]+/.exec(imported)?.[0] ?? imported;
}

function bundledPackages(): readonly string[] {
  const { sources } = JSON.parse(readFileSync(`${bundle}.map`, 'utf8')) as { sources: string[] };
  const names = sources.map((source) => /.*\/node_modules\/(.+)$/.exec(source)?.[1]);
  return [...new Set(names.filter((name) => name !== undefined).map(packageOf))];
}

/** The packages and all that they load, as they are installed. */
function withDependencies(names: readonly string[]): readonly string[] {
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
