import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { sourcesOf } from './source-map';

describe('a position in the bundle', () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'bench-source-map-'));
  const bundle = path.join(folder, 'main.js');
  afterAll(() => rmSync(folder, { recursive: true }));

  it('maps to the source file in the project', () => {
    // The second line is the first of the first file, the third line the first of the second file.
    const map = { version: 3, sources: ['../../libs/a/src/a.ts', '../../libs/b/src/b.ts'], names: [] };
    writeFileSync(`${bundle}.map`, JSON.stringify({ ...map, mappings: ';AAAA;ACAA' }));
    const findSource = sourcesOf(bundle);
    expect(findSource(pathToFileURL(bundle).href, 1, 4)).toBe('libs/a/src/a.ts');
    expect(findSource(bundle, 2, 0)).toBe('libs/b/src/b.ts');
    expect(findSource(bundle, 0, 0)).toBeUndefined();
    expect(findSource('node:net', 1, 4)).toBeUndefined();
  });
});
