import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const moduleUrl = pathToFileURL(path.join(__dirname, 'lib/settle-image.mjs')).href;
const SCRIPT = `
  const [archive] = process.argv.slice(1);
  const { readFileSync, writeFileSync } = await import('node:fs');
  const bytes = readFileSync(archive);
  (await import('${moduleUrl}')).settleTimes(bytes);
  writeFileSync(archive, bytes);`;

describe('a layer whose times are settled', () => {
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(path.join(os.tmpdir(), 'settle-image-'))));
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  /** An archive of two files, of which one is longer than a block, in a folder. */
  function archiveOf(year: number): string {
    const layer = path.join(folder, 'layer');
    mkdirSync(path.join(layer, 'app'), { recursive: true });
    writeFileSync(path.join(layer, 'app/short'), 'short');
    writeFileSync(path.join(layer, 'app/long'), 'long'.repeat(1_000));
    for (const each of ['app/short', 'app/long', 'app'])
      utimesSync(path.join(layer, each), new Date(year, 1), new Date(year, 1));
    const archive = path.join(folder, `${year}.tar`);
    execFileSync('tar', ['--sort=name', '--directory', layer, '--create', '--file', archive, 'app']);
    return archive;
  }

  const settle = (archive: string) =>
    spawnSync(process.execPath, ['--input-type=module', '--eval', SCRIPT, archive], { encoding: 'utf8' });

  it('is the same whenever it was made, and still an archive of the same files', () => {
    const archives = [archiveOf(2001), archiveOf(2020)];
    const digests = () =>
      archives.map((archive) => execFileSync('sha256sum', [archive], { encoding: 'utf8' }).split(' ')[0]);
    expect(new Set(digests()).size).toBe(2);
    for (const archive of archives) expect(settle(archive)).toMatchObject({ status: 0, stderr: '' });
    expect(new Set(digests()).size).toBe(1);
    const listed = execFileSync('tar', ['--list', '--verbose', '--file', archives[0] ?? ''], {
      encoding: 'utf8',
      env: { ...process.env, TZ: 'UTC' },
    });
    expect(listed.trim().split('\n')).toEqual([
      expect.stringMatching(/1970-01-01 00:00 app\/$/),
      expect.stringMatching(/ 4000 1970-01-01 00:00 app\/long$/),
      expect.stringMatching(/ 5 1970-01-01 00:00 app\/short$/),
    ]);
  });
});
