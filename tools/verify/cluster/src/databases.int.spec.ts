import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createPool, startEmbeddedPostgres, type EmbeddedPostgres } from '@gateway/database';
import { createSilentLogger } from '@gateway/runtime';
import { ensureDatabases } from './databases';
import { DATABASES, type DatabaseName } from './services';

describe('the databases of a cluster', () => {
  let folder: string;
  let server: EmbeddedPostgres;
  let urls: Readonly<Record<DatabaseName, string>>;

  beforeAll(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'gateway-databases-'));
    chmodSync(folder, 0o755);
    server = await startEmbeddedPostgres({ stateDirectory: folder, log: createSilentLogger() });
    await ensureDatabases(server.adminUrl);
    // Again, as at the next start.
    urls = await ensureDatabases(server.adminUrl);
  });
  afterAll(async () => {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  async function run(url: string, sql: string): Promise<unknown> {
    const pool = createPool({ url, schema: 'public', applicationName: 'test', maxConnections: 1 });
    try {
      return (await pool.query<Record<string, unknown>>(sql)).rows[0];
    } catch (error) {
      return (error as Error).message;
    } finally {
      await pool.end();
    }
  }

  it.each(DATABASES)(
    '%s: its role can create schemas in it, and cannot connect to another database',
    async (own) => {
      expect(await run(urls[own], 'create schema theirs')).toBeUndefined();
      expect(
        await run(
          urls[own],
          'select rolsuper, rolcreatedb, rolcreaterole from pg_roles where rolname = current_user',
        ),
      ).toEqual({ rolsuper: false, rolcreatedb: false, rolcreaterole: false });
      for (const other of DATABASES.filter((name) => name !== own)) {
        const elsewhere = new URL(urls[own]);
        elsewhere.pathname = new URL(urls[other]).pathname;
        expect(await run(elsewhere.toString(), 'select 1')).toMatch(/permission denied for database/);
      }
    },
  );
});
