import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { parse } from 'yaml';

jest.setTimeout(180_000);

const root = path.resolve(__dirname, '../..');
const REPOSITORY = 'https://git.example.com/gateway';
const library = pathToFileURL(path.join(root, 'tools/commands/lib/package-files.mjs')).href;
const SCRIPT = `
import { packGateway } from ${JSON.stringify(library)};
process.stdout.write(await packGateway(process.argv[1], ${JSON.stringify(REPOSITORY)}));
`;

const folders = ['one', 'other'].map((name) => mkdtempSync(path.join(os.tmpdir(), `package-${name}-`)));
let archives: readonly string[];
const readJson = (file: string) => JSON.parse(readFileSync(file, 'utf8')) as unknown;
const packaged = (file: string) => path.join(folders[0] as string, 'package', file);

interface Lock {
  readonly packages: Readonly<
    Record<string, { version: string; integrity?: string; dev?: boolean; link?: boolean }>
  >;
}

beforeAll(() => {
  archives = folders.map((folder) =>
    execFileSync(process.execPath, ['--input-type=module', '--eval', SCRIPT, folder], { encoding: 'utf8' }),
  );
});
afterAll(() => folders.forEach((folder) => rmSync(folder, { recursive: true, force: true })));

it('has the same bytes each time', () => {
  const [one, other] = archives.map((archive) =>
    createHash('sha256').update(readFileSync(archive)).digest('hex'),
  );
  expect(one).toBe(other);
});

it('pins every package to the version and the content that the project is tested with', () => {
  const { packages } = readJson(packaged('npm-shrinkwrap.json')) as Lock;
  const { packages: locked } = parse(readFileSync(path.join(root, 'pnpm-lock.yaml'), 'utf8')) as {
    readonly packages: Readonly<Record<string, { readonly resolution: { readonly integrity: string } }>>;
  };
  const { '': _itself, ...installed } = packages;
  // Guards against passing without comparing anything.
  expect(Object.keys(installed).length).toBeGreaterThan(100);
  for (const [at, { version, integrity, dev }] of Object.entries(installed)) {
    const name = `${at.replace(/^.*node_modules\//, '')}@${version}`;
    expect([name, integrity, dev]).toEqual([name, locked[name]?.resolution.integrity, undefined]);
    expect(integrity).toMatch(/^sha512-/);
  }
});

it('lists its packages as CycloneDX', () => {
  const { packages } = readJson(packaged('npm-shrinkwrap.json')) as Lock;
  const sbom = readJson(packaged('sbom.cdx.json')) as {
    readonly bomFormat: string;
    readonly components: readonly { readonly purl: string }[];
  };
  expect(sbom.bomFormat).toBe('CycloneDX');
  const listed = new Set(sbom.components.map(({ purl }) => decodeURIComponent(purl)));
  for (const [at, { version }] of Object.entries(packages)) {
    if (at === '') continue;
    expect(listed).toContain(`pkg:npm/${at.replace(/^.*node_modules\//, '')}@${version}`);
  }
});

it('has a license, a README and the Node versions of the project, and names its sources', () => {
  const { engines, version } = readJson(path.join(root, 'package.json')) as Record<string, unknown>;
  const manifest = { engines, version, license: 'Apache-2.0', repository: { type: 'git', url: REPOSITORY } };
  expect(readJson(packaged('package.json'))).toMatchObject(manifest);
  expect(readFileSync(packaged('LICENSE'), 'utf8')).toContain('Apache License');
  expect(readFileSync(packaged('README.md'), 'utf8')).toContain('npx inference-gateway');
});
