import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const root = path.resolve(__dirname, '../..');
const LIBRARY = 'tools/commands/lib';

/** Runs code with the library `lib` of a project, and returns its output. */
function evaluate(project: string, code: string, env: Readonly<Record<string, string>> = {}): string {
  const library = pathToFileURL(path.join(project, LIBRARY, 'install.mjs')).href;
  const script = `import * as lib from ${JSON.stringify(library)}; ${code}`;
  return execFileSync(process.execPath, ['--input-type=module', '--eval', script], {
    encoding: 'utf8',
    env: { ...process.env, ...env },
  });
}

it('pnpm uses the registry of npm, also when only the environment names it', () => {
  const registry = 'http://registry.example.com/npm/';
  const code = 'console.log(JSON.stringify(lib.pnpmCommand("config", "get", "registry")));';
  const [, , env] = JSON.parse(evaluate(root, code, { npm_config_registry: registry })) as [
    unknown,
    unknown,
    object,
  ];
  const [command, args] = JSON.parse(evaluate(root, code)) as [string, string[]];
  const output = execFileSync(command, args, { encoding: 'utf8', env: { ...process.env, ...env } });
  expect(output.trim()).toBe(registry);
});

describe('the packages of a project', () => {
  const project = mkdtempSync(path.join(os.tmpdir(), 'install-'));
  const modules = path.join(project, 'node_modules');
  const { packageManager } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as {
    packageManager: string;
  };
  const install = (tests: boolean) => evaluate(project, `await lib.install({ tests: ${tests} });`);
  const installed = () => ['needed', 'for-tests'].filter((name) => existsSync(path.join(modules, name)));

  beforeAll(() => {
    cpSync(path.join(root, LIBRARY), path.join(project, LIBRARY), { recursive: true });
    cpSync(path.join(root, 'pnpm-workspace.yaml'), path.join(project, 'pnpm-workspace.yaml'));
    for (const name of ['needed', 'for-tests']) {
      mkdirSync(path.join(project, name));
      writeFileSync(path.join(project, name, 'package.json'), JSON.stringify({ name, version: '1.0.0' }));
    }
    const dependencies = { needed: 'file:needed' };
    const manifest = { packageManager, dependencies, devDependencies: { 'for-tests': 'file:for-tests' } };
    writeFileSync(path.join(project, 'package.json'), JSON.stringify(manifest));
    const [command, args] = JSON.parse(
      evaluate(project, 'console.log(JSON.stringify(lib.pnpmCommand("install", "--lockfile-only")));'),
    ) as [string, string[]];
    execFileSync(command, args, { cwd: project });
  });
  afterAll(() => rmSync(project, { recursive: true }));

  it('are installed as far as they are needed, once', () => {
    expect(install(false)).toContain('Install packages');
    expect(installed()).toEqual(['needed']);
    expect(install(false)).toBe('');
    expect(install(true)).toContain('Install packages');
    expect(installed()).toEqual(['needed', 'for-tests']);
    expect(install(true)).toBe('');
    expect(install(false)).toBe('');
  });

  it('are installed again in the versions of the lock file after npm has changed them', () => {
    install(true);
    rmSync(path.join(modules, 'needed'), { recursive: true });
    // As npm does.
    writeFileSync(path.join(modules, '.package-lock.json'), '{}');
    install(false);
    expect(installed()).toContain('needed');
    expect(install(false)).toBe('');
  });
});
