import { decode } from '@jridgewell/sourcemap-codec';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const FAILS = `
export function fails(count: number): never {
  const message = \`failed \${count} times\`, length = message.length;
  if (length > 0) throw new Error(message);
  throw new Error('empty');
}
`;
const PACKAGE = `/*! Copyright © Example */
exports.call = (count, callee) => {
  callee(count);
};
`;
const ENTRY = `import { call } from './node_modules/caller';
import { fails } from './fails';

call(1, fails);
`;

const folder = mkdtempSync(path.join(os.tmpdir(), 'bundle-'));
const bundle = path.join(folder, 'main.js');
beforeAll(() => {
  writeFileSync(path.join(folder, 'fails.ts'), FAILS);
  writeFileSync(path.join(folder, 'entry.ts'), ENTRY);
  mkdirSync(path.join(folder, 'node_modules', 'caller'), { recursive: true });
  writeFileSync(path.join(folder, 'node_modules', 'caller', 'index.js'), PACKAGE);
  const entry = path.join(folder, 'entry.ts');
  const { status, stderr } = run(path.join(__dirname, 'bundle.mjs'), `${bundle}=${entry}`);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('the source map of a bundle', () => {
  it("leads from an error's stack to the lines of the sources", () => {
    const { stderr } = run('--enable-source-maps', bundle);
    expect(stderr).toMatch(/at fails \(.*fails\.ts:4:\d+\)/);
    expect(stderr).toMatch(/at .*entry\.ts:4:\d+/);
  });

  it('has no positions of packages, whose functions keep their position in the bundle', () => {
    const { stderr } = run('--enable-source-maps', bundle);
    expect(stderr).toMatch(/at .*call \(.*main\.js:1:\d+\)/);
    expect(stderr).not.toContain('caller/index.js');
  });

  it('has one position per line', () => {
    const { mappings } = JSON.parse(readFileSync(`${bundle}.map`, 'utf8')) as { mappings: string };
    const segments = decode(mappings)
      .flat()
      .filter((segment) => segment.length > 1);
    expect(segments.length).toBeGreaterThan(0);
    const lines = segments.map(([, source, line]) => `${source}:${line}`);
    expect(lines.filter((line, index) => line === lines[index - 1])).toEqual([]);
  });
});

it('a bundle is ASCII: the licenses of its packages are in another file', () => {
  expect(readFileSync(bundle, 'latin1')).not.toMatch(/[^\0-\x7f]/);
  expect(readFileSync(`${bundle}.LEGAL.txt`, 'utf8')).toContain('Copyright © Example');
});

function run(...args: string[]) {
  return spawnSync(process.execPath, args, { encoding: 'utf8' });
}
