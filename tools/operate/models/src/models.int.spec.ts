import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const root = path.resolve(__dirname, '../../../..');

describe('the built program models', () => {
  let folder: string;
  let file: string;

  beforeEach(() => {
    folder = mkdtempSync(path.join(os.tmpdir(), 'models-'));
    file = path.join(folder, 'models.yaml');
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const run = (...args: string[]) =>
    spawnSync(process.execPath, ['dist/models/main.js', ...args], {
      cwd: root,
      encoding: 'utf8',
      env: { PATH: process.env.PATH, GATEWAY_MODELS_FILE: file },
    });
  const add = () =>
    run('add', 'anthropic/claude-sonnet-4-5', '--max-output-tokens', '64000', '--capabilities', 'tools');

  it('adds a model, finds its prices equal, and exits with 1 once one differs, without changing the file', () => {
    expect(add()).toMatchObject({ status: 0, stderr: '' });
    expect(run('diff')).toMatchObject({ status: 0, stderr: '' });
    const changed = readFileSync(file, 'utf8').replace("cache_write: '3.75'", "cache_write: '3'");
    writeFileSync(file, changed);
    const { status, stdout } = run('diff');
    expect(status).toBe(1);
    expect(stdout).toMatch(
      /^anthropic\/claude-sonnet-4-5 \(anthropic, claude-sonnet-4-5\): prices.*\n  cache_write: 3 → 3.75\n/,
    );
    expect(stdout).toMatch(/1 of 1 compared targets differ from @pydantic\/genai-prices \d+\.\d+\.\d+\.$/m);
    expect(readFileSync(file, 'utf8')).toBe(changed);
  });

  it('exits with 2 and the reason where it cannot compare or add, and leaves the file as it is', () => {
    expect(run('diff')).toMatchObject({ status: 2, stderr: expect.stringContaining('no such file') });
    writeFileSync(file, 'models: []\n');
    expect(run('diff')).toMatchObject({ status: 2, stderr: expect.stringMatching(/^the models file has /) });
    expect(add()).toMatchObject({ status: 2, stderr: expect.stringMatching(/^the models file has /) });
    expect(readFileSync(file, 'utf8')).toBe('models: []\n');
  });
});
