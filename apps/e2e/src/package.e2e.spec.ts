import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { eventually, readDevFile } from '@gateway/test-support';

jest.setTimeout(300_000);

const root = path.resolve(__dirname, '../../..');
const library = pathToFileURL(path.join(root, 'tools/commands/lib/package-files.mjs')).href;
const SCRIPT = `
import { packGateway } from ${JSON.stringify(library)};
process.stdout.write(await packGateway(process.argv[1]));
`;
const READY = 'Health and metrics';
const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as { version: string };

/** The gateway as people get it: from its npm package, in an empty folder. */
describe('the installed package', () => {
  const packed = mkdtempSync(path.join(os.tmpdir(), 'package-'));
  const folder = mkdtempSync(path.join(os.tmpdir(), 'installed-'));
  const env = {
    // The command runs on the Node of this test.
    PATH: `${path.dirname(process.execPath)}${path.delimiter}${process.env.PATH}`,
    HOME: process.env.HOME,
    ...{ GATEWAY_PORT: '0', GATEWAY_DASHBOARD_PORT: '0', GATEWAY_ADMIN_PORT: '0' },
  };
  const inFolder = { cwd: folder, env, encoding: 'utf8' } as const;
  const run = (...args: readonly string[]) =>
    spawnSync(path.join(folder, 'node_modules/.bin/inference-gateway'), args, inFolder);

  beforeAll(() => {
    // PostgreSQL runs as another user when the tests run as root.
    chmodSync(folder, 0o755);
    // `npm test` packs once for all suites.
    const archive =
      process.env.GATEWAY_TEST_PACKAGE ??
      execFileSync(process.execPath, ['--input-type=module', '--eval', SCRIPT, packed], { encoding: 'utf8' });
    // With the settings of this machine for the registry.
    const settings = { ...inFolder, env: { ...process.env, PATH: env.PATH } };
    const options = ['--prefix', folder, '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error'];
    execFileSync('npm', ['install', ...options, archive], settings);
  });
  afterAll(() => {
    for (const each of [packed, folder]) rmSync(each, { recursive: true, force: true });
  });

  it('prints its version and its usage, and refuses unknown options with the usage', () => {
    expect(run('--version')).toMatchObject({ status: 0, stdout: `${version}\n` });
    expect(run('--help')).toMatchObject({ status: 0, stdout: expect.stringContaining('--check-config') });
    const { status, stderr } = run('--no-such-option');
    expect([status, stderr]).toEqual([2, expect.stringMatching(/'--no-such-option'[^]*Usage: /)]);
  });

  it('checks the configuration without writing anything', () => {
    const before = readdirSync(folder);
    expect(run('--check-config')).toMatchObject({ status: 0, stderr: '' });
    expect(readdirSync(folder)).toEqual(before);
    const wrong = spawnSync('npx', ['inference-gateway', '--check-config'], {
      ...{ ...inFolder, env: { ...env, GATEWAY_PORT: 'none' } },
    });
    expect([wrong.status, wrong.stderr]).toEqual([2, expect.stringContaining('GATEWAY_PORT')]);
  });

  it('starts by npx in an empty folder, prints a request that works, and stops on Ctrl-C', async () => {
    const child = spawn('npx', ['inference-gateway'], { cwd: folder, env, detached: true });
    try {
      const chunks: string[] = [];
      for (const stream of [child.stdout, child.stderr]) {
        stream.setEncoding('utf8').on('data', (text: string) => chunks.push(text));
      }
      const closed = new Promise((resolve) => child.once('close', resolve));
      const ready = async () => {
        const text = chunks.join('');
        if (child.exitCode !== null) throw new Error(`it has exited:\n${text}`);
        return text.includes(READY) ? text : undefined;
      };
      const output = await eventually('the gateway', ready, { timeoutMs: 120_000 });
      const { baseUrl, dashboardUrl, adminEmail, apiKey } = readDevFile(path.join(folder, '.gateway'));
      for (const printed of [baseUrl, dashboardUrl, adminEmail, path.join(folder, 'models.yaml')]) {
        expect(output).toContain(printed);
      }
      // Its output is no terminal.
      expect(output).not.toContain(apiKey);
      const [curl = ''] = /^curl .*$/m.exec(output) ?? [];
      const completion = execFileSync('sh', ['-c', curl], {
        ...inFolder,
        stdio: ['ignore', 'pipe', 'ignore'],
      });
      expect(JSON.parse(completion)).toMatchObject({
        object: 'chat.completion',
        usage: { cost: expect.any(Number) },
      });
      expect((await fetch(dashboardUrl)).headers.get('content-type')).toContain('text/html');
      // A terminal sends Ctrl-C to all of its foreground processes.
      process.kill(-(child.pid as number), 'SIGINT');
      await closed;
      expect(chunks.join('')).toContain('"msg":"stopped"');
      expect(existsSync(path.join(folder, '.gateway/postgres/postgres/data/postmaster.pid'))).toBe(false);
    } finally {
      if (child.exitCode === null && child.signalCode === null)
        process.kill(-(child.pid as number), 'SIGKILL');
    }
  });
});
