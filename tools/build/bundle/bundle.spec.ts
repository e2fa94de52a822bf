import { decode } from '@jridgewell/sourcemap-codec';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const FAILS = `
export function fails(count: number): never {
  const message = \`failed \${count} times\`, length = message.length;
  if (length > 0) throw new Error(message);
  throw new Error('empty');
}
`;
const ENTRY = `import { fails } from './fails';

fails(1);
`;

describe('the source map of a bundle', () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'bundle-'));
  const bundle = path.join(folder, 'main.js');
  beforeAll(() => {
    writeFileSync(path.join(folder, 'fails.ts'), FAILS);
    writeFileSync(path.join(folder, 'entry.ts'), ENTRY);
    const entry = path.join(folder, 'entry.ts');
    const { status, stderr } = run(path.join(__dirname, 'bundle.mjs'), `${bundle}=${entry}`);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it("leads from an error's stack to the lines of the sources", () => {
    const { stderr } = run('--enable-source-maps', bundle);
    expect(stderr).toMatch(/at fails \(.*fails\.ts:4:\d+\)/);
    expect(stderr).toMatch(/at .*entry\.ts:3:\d+/);
  });

  it('has one position per line', () => {
    const { mappings } = JSON.parse(readFileSync(`${bundle}.map`, 'utf8')) as { mappings: string };
    const segments = decode(mappings).flat();
    expect(segments.length).toBeGreaterThan(0);
    const lines = segments.map(([, source, line]) => `${source}:${line}`);
    expect(lines.filter((line, index) => line === lines[index - 1])).toEqual([]);
  });
});

function run(...args: string[]) {
  return spawnSync(process.execPath, args, { encoding: 'utf8' });
}
