import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const root = path.resolve(__dirname, '../..');
const IMAGE_DIGEST = `sha256:${'a'.repeat(64)}`;
const BASE_DIGEST = `sha256:${'b'.repeat(64)}`;

/**
 * Stands for Docker: has the base image `base`, and every image that it has built. Node.js does not start in images with
 * the tag `broken`.
 */
const DOCKER = `#!/usr/bin/env node
const args = process.argv.slice(2);
if (args[0] === 'version') console.log('29.0.0');
else if (args[0] === 'run' && args.includes('inference-gateway/demo:broken')) {
  console.error('node: a library is missing');
  process.exit(127);
}
else if (args.includes('--format')) {
  console.log(args.at(-1) === 'base' ? 'registry.example.com/base@${BASE_DIGEST}' : '${IMAGE_DIGEST}');
}`;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'image-'));
  writeFileSync(path.join(folder, 'docker'), DOCKER);
  chmodSync(path.join(folder, 'docker'), 0o755);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function buildDemo(tag: string): { status: number | null; stderr: string } {
  const args = ['demo', '--base', 'base', '--build-image', 'base', '--tag', tag];
  return spawnSync(process.execPath, ['tools/commands/image.mjs', ...args], {
    cwd: root,
    encoding: 'utf8',
    env: { ...process.env, PATH: `${folder}${path.delimiter}${process.env.PATH}` },
  });
}

it('reports an image in which Node.js does not start', () => {
  const { status, stderr } = buildDemo('broken');
  const message = 'Node.js does not start in inference-gateway/demo:broken: node: a library is missing';
  expect([status, stderr]).toEqual([1, expect.stringContaining(message)]);
});

it('writes the provenance of an image: its digest, the commit, the lock file and the base images', () => {
  const { status, stderr } = buildDemo('9.9.9');
  expect([status, stderr]).toEqual([0, '']);
  const file = path.join(root, 'dist/images/demo.provenance.json');
  const statement = JSON.parse(readFileSync(file, 'utf8')) as {
    predicate: { buildDefinition: { resolvedDependencies: unknown } };
  };
  rmSync(file);
  expect(statement).toMatchObject({
    _type: 'https://in-toto.io/Statement/v1',
    subject: [{ name: 'inference-gateway/demo:9.9.9', digest: { sha256: 'a'.repeat(64) } }],
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: { externalParameters: { program: 'demo' } },
      runDetails: { builder: { id: 'docker 29.0.0' } },
    },
  });
  const { stdout: commit } = spawnSync('git', ['rev-parse', 'HEAD'], { cwd: root, encoding: 'utf8' });
  expect(statement.predicate.buildDefinition.resolvedDependencies).toEqual([
    {
      name: 'sources',
      digest: { gitCommit: commit.trim() || 'unknown' },
      annotations: { modified: expect.any(Boolean) },
    },
    { name: 'pnpm-lock.yaml', digest: { sha256: expect.stringMatching(/^[0-9a-f]{64}$/) } },
    { name: 'base', digest: { sha256: 'b'.repeat(64) } },
    { name: 'base', digest: { sha256: 'b'.repeat(64) } },
  ]);
});

it('contains the libraries of node that the base image lacks', () => {
  const moduleUrl = pathToFileURL(path.join(root, 'tools/commands/lib/image-files.mjs')).href;
  const script = `(await import('${moduleUrl}')).layOutLibraries(process.argv[1]);`;
  spawnSync(process.execPath, ['--input-type=module', '--eval', script, folder]);
  const base = /^(linux-vdso|ld-linux|lib(c|m|dl|pthread|rt|gcc_s|stdc\+\+)\.so)/;
  const needed = spawnSync('ldd', [process.execPath], { encoding: 'utf8' }).stdout.match(
    /\S+\.so\.?\S*(?= => )/g,
  );
  const lacking = (needed ?? []).filter((name) => !base.test(name));
  expect(readdirSync(path.join(folder, 'lib')).sort()).toEqual(lacking.sort());
});

it("has Nx's configuration and the inputs of its builds in the build context", () => {
  const read = (file: string): string => readFileSync(path.join(root, file), 'utf8');
  const { namedInputs, targetDefaults } = JSON.parse(read('nx.json')) as {
    namedInputs: Record<string, unknown[]>;
    targetDefaults: Record<string, { inputs?: unknown[] }>;
  };
  const inputs = [
    namedInputs['sources'],
    targetDefaults['generate']?.inputs,
    targetDefaults['build']?.inputs,
  ];
  const needed = inputs.flat().flatMap((input) => {
    const [, name] = /^\{workspaceRoot\}\/([^/]+)/.exec(String(input)) ?? [];
    return name ?? [];
  });
  const sent = [...read('.dockerignore').matchAll(/^!([^/\n]+)/gm)].map(([, name]) => name);
  expect(needed).toContain('proto');
  expect(sent).toEqual(expect.arrayContaining(['nx.json', ...needed]));
});
