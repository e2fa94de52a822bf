import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const REGISTRY = 'http://registry.example.com/npm/';

/** Prints what the code evaluates to. */
function evaluate(code: string, env: Readonly<Record<string, string>> = {}): unknown {
  const library = pathToFileURL(path.join(__dirname, 'lib/install.mjs')).href;
  const script = `import * as lib from ${JSON.stringify(library)}; console.log(JSON.stringify(${code}));`;
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
    encoding: 'utf8',
    env: { ...process.env, ...env },
  });
  return JSON.parse(stdout);
}

it('pnpm uses the registry of npm, also when only the environment names it', () => {
  const code = 'lib.pnpmCommand("config", "get", "registry")';
  const [, , env] = evaluate(code, { npm_config_registry: REGISTRY }) as [string, string[], object];
  const [command, args] = evaluate(code) as [string, string[]];
  const { stdout } = spawnSync(command, args, { encoding: 'utf8', env: { ...process.env, ...env } });
  expect(stdout.trim()).toBe(REGISTRY);
});
