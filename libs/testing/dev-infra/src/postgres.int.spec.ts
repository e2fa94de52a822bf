import { Client } from 'pg';
import { containerOf } from './container-server';
import { describeWith } from './describe-with';
import { startLocalPostgres, startPostgresContainer, type PostgresServerOptions } from './postgres';
import type { PostgresServer } from './postgres';

const START_MS = 120_000;

/** What every way to start a PostgreSQL server does. */
function describePostgresServerSuite(
  start: (options?: PostgresServerOptions) => Promise<PostgresServer>,
): void {
  it(
    'is of the version that the chart names, has the requested settings, and refuses connections after a stop',
    async () => {
      const server = await start({ settings: { work_mem: '5MB', fsync: 'off' } });
      const client = new Client({ connectionString: server.url });
      client.on('error', () => undefined);
      await client.connect();
      const { rows } = await client.query(`
        select current_setting('server_version_num')::int / 10000 as version, current_setting('work_mem') as work_mem,
               current_setting('fsync') as fsync, rolsuper as superuser
        from pg_roles where rolname = current_user`);
      expect(rows).toEqual([{ version: 18, work_mem: '5MB', fsync: 'off', superuser: true }]);
      await server.stop();
      await client.end().catch(() => undefined);
      await expect(new Client({ connectionString: server.url }).connect()).rejects.toThrow(/ECONNREFUSED/);
    },
    START_MS,
  );
}

describe('a PostgreSQL server of the npm package', () => describePostgresServerSuite(startLocalPostgres));
describeWith(containerOf('postgres'), 'a PostgreSQL server in a container', () =>
  describePostgresServerSuite(startPostgresContainer),
);
