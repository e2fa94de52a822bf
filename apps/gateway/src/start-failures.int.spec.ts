import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { createPool, startEmbeddedPostgres } from '@gateway/database';
import { createSilentLogger } from '@gateway/runtime';
import { createTestDatabase, startGateway } from '@gateway/test-support';
import beforeFirstRelease from './testing/database-before-0.1.0.sql';

jest.setTimeout(60_000);

const MAIN = path.resolve(__dirname, '../../../dist/gateway/main.js');

describe('a gateway that cannot start', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(path.join(os.tmpdir(), 'gateway-start-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  function run(args: readonly string[], env: Record<string, string> = {}) {
    return spawnSync(process.execPath, [MAIN, ...args], {
      encoding: 'utf8',
      env: {
        PATH: process.env.PATH,
        GATEWAY_STATE_DIR: path.join(folder, 'state'),
        GATEWAY_PORT: '0',
        GATEWAY_DASHBOARD_PORT: '0',
        ...env,
      },
    });
  }

  const INVALID = `providers:
  - { name: p, base_url: "http://p.example/v1", api_key_env: MISSING_KEY }
models:
  - id: a/b
    targets: [{ provider: p, model: b }]
    context_window: 100
    max_output_tokens: 200
    prices: { input: "1", output: "1" }
`;

  it.each([[], ['--check-config']])(
    'reports the errors of the models file with their lines, given %j',
    (...args) => {
      const file = path.join(folder, 'models.yaml');
      writeFileSync(file, INVALID);
      const { status, stderr } = run(args, { GATEWAY_MODELS_FILE: file });
      expect(status).toBe(2);
      expect(stderr).toContain(`${file}: models[0].max_output_tokens (line 7): is above context_window`);
      expect(stderr).not.toMatch(/^\s+at /m);
      expect(existsSync(path.join(folder, 'state/postgres'))).toBe(false);
    },
  );

  it('reports a missing models file', () => {
    const { status, stderr } = run(['--check-config'], { GATEWAY_MODELS_FILE: '/nowhere/models.yaml' });
    expect([status, stderr]).toEqual([
      2,
      expect.stringContaining('GATEWAY_MODELS_FILE: /nowhere/models.yaml cannot be read (ENOENT)'),
    ]);
  });

  it('reports a state folder that is not writable', () => {
    writeFileSync(path.join(folder, 'state'), 'a file instead of a folder');
    const { status, stderr } = run([]);
    expect(status).toBe(2);
    expect(stderr).toMatch(/GATEWAY_STATE_DIR: the gateway cannot write to .*\/state \((EEXIST|ENOTDIR)\)/);
    expect(stderr).not.toMatch(/^\s+at /m);
  });

  const BEFORE_FIRST_RELEASE =
    /^The database cannot be used: the schema event_log .* version before 0\.1\.0 .* Use an empty database.* GATEWAY_STATE_DIR/m;

  /** Every table of the database with its rows. */
  async function stateOf(url: string): Promise<unknown> {
    const pool = createPool({ url, schema: 'public', applicationName: 'test', maxConnections: 1 });
    const { rows } = await pool.query(`
      select schemaname, tablename,
        query_to_xml(format('table %I.%I', schemaname, tablename), false, true, '')::text as contents
      from pg_tables where schemaname not in ('pg_catalog', 'information_schema') order by 1, 2`);
    await pool.end();
    return rows;
  }

  async function fill(url: string): Promise<void> {
    const pool = createPool({ url, schema: 'public', applicationName: 'test', maxConnections: 1 });
    await pool.query(beforeFirstRelease);
    await pool.end();
  }

  it('rejects a database of a version before the first release, and leaves it unchanged', async () => {
    const database = await createTestDatabase();
    try {
      await fill(database.url);
      const before = await stateOf(database.url);
      const { status, stderr } = run([], { DATABASE_URL: database.url });
      expect(status).toBe(1);
      expect(stderr).toMatch(BEFORE_FIRST_RELEASE);
      expect(await stateOf(database.url)).toEqual(before);
    } finally {
      await database.drop();
    }
  });

  it('rejects a state folder of a version before the first release, and leaves its data unchanged', async () => {
    // As root, the server runs as another user, which must enter this folder.
    chmodSync(folder, 0o755);
    const stateDirectory = path.join(folder, 'state/postgres');
    const openServer = () => startEmbeddedPostgres({ stateDirectory, log: createSilentLogger() });
    let server = await openServer();
    await fill(server.url);
    const before = await stateOf(server.url);
    await server.stop();
    const { status, stderr } = run([]);
    expect(status).toBe(1);
    expect(stderr).toMatch(BEFORE_FIRST_RELEASE);
    server = await openServer();
    expect(await stateOf(server.url)).toEqual(before);
    await server.stop();
  });

  it('prints its usage for an unknown option', () => {
    const { status, stderr } = run(['--chek-config']);
    expect(status).toBe(2);
    expect(stderr).toContain("'--chek-config'");
    expect(stderr).toContain('Usage:');
    expect(stderr).not.toMatch(/^\s+at /m);
  });

  it.each(['GATEWAY_PORT', 'GATEWAY_DASHBOARD_PORT', 'GATEWAY_ADMIN_PORT'])(
    'names the setting of a port that is in use: %s',
    async (setting) => {
      const otherServer = createServer().listen(0, '127.0.0.1');
      await once(otherServer, 'listening');
      try {
        const { port } = otherServer.address() as AddressInfo;
        await expect(startGateway({ env: { [setting]: String(port) } })).rejects.toThrow(
          `Port ${port} is already in use. Stop the other process, or set ${setting} to another port`,
        );
      } finally {
        otherServer.close();
      }
    },
  );
});

describe('the output of a started gateway without a terminal', () => {
  it('contains neither the key nor the password, and its curl line works', async () => {
    const gateway = await startGateway({ isFirstStart: true });
    try {
      const output = gateway.output();
      expect(output).not.toContain(gateway.apiKey);
      expect(output).not.toContain(gateway.adminPassword);
      expect(readFileSync(path.join(gateway.stateDirectory, 'dev.json'), 'utf8')).toContain(gateway.apiKey);
      const curl = /^curl .*$/m.exec(output)?.[0] ?? '';
      const body = execFileSync('sh', ['-c', `${curl} -s`], { encoding: 'utf8' });
      expect(JSON.parse(body)).toMatchObject({ object: 'chat.completion' });
    } finally {
      await gateway.stop();
    }
  });
});
