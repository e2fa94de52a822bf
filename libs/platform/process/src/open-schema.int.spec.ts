import type { Migration } from '@gateway/database';
import { describeWith, pgbouncer, startPgBouncer, type PgBouncer } from '@gateway/dev-infra';
import { createLifecycle, type Lifecycle } from '@gateway/module';
import { createMetrics, createSilentLogger } from '@gateway/runtime';
import { beginIdleTransaction, createTestDatabase, type TestDatabase } from '@gateway/test-support';
import { Client } from 'pg';
import { migrateSchemas, openSchema, type OpenSchema, type ServiceSchema } from './open-schema';

const log = createSilentLogger();
const CREATE: Migration = { name: '20260101000000_create', sql: 'create table things (id int primary key);' };
const SHOP: ServiceSchema = { schema: 'shop', migrations: [CREATE], functions: {}, maxConnections: 4 };

let database: TestDatabase;
let life: Lifecycle;
/** The failed attempts, with their reasons. */
let failures: string[];

beforeEach(async () => {
  database = await createTestDatabase();
  life = createLifecycle({ log });
  failures = [];
});

afterEach(async () => {
  await life.stop();
  await database.drop();
});

const open = (urls: { url: string; directUrl?: string }, schema = SHOP): Promise<OpenSchema> =>
  openSchema(schema, {
    config: { DATABASE_URL: urls.url, DATABASE_DIRECT_URL: urls.directUrl },
    log,
    metrics: createMetrics({ processMetrics: false }),
    life,
    // No retries: failures in these tests are permanent.
    async awaitDependency(what, attempt) {
      try {
        return await attempt();
      } catch (error) {
        failures.push(`${what}: ${(error as Error).message}`);
        throw error;
      }
    },
  });

const asOwner = async (sql: string): Promise<void> => {
  const client = new Client({ connectionString: database.url });
  await client.connect();
  await client.query(sql);
  await client.end();
};

describe('a schema', () => {
  it('that is up to date is opened on a read-only replica of its database', async () => {
    await migrateSchemas({
      schemas: [SHOP],
      config: { DATABASE_URL: database.url, DATABASE_DIRECT_URL: undefined },
      log,
      signal: new AbortController().signal,
    });
    await asOwner(`alter database ${database.name} set default_transaction_read_only = on`);
    const { pool, isAvailable } = await open({ url: database.url });
    await expect(pool.query('insert into things values (1)')).rejects.toThrow(/read-only/);
    expect(await isAvailable()).toBe(true);
    expect(failures).toEqual([]);
  });

  it('is migrated by a job, which fails immediately when a migration fails', async () => {
    const broken = { ...SHOP, migrations: [CREATE, { name: '20260102000000_broken', sql: 'no sql at all' }] };
    await expect(
      migrateSchemas({
        schemas: [broken],
        config: { DATABASE_URL: database.url, DATABASE_DIRECT_URL: undefined },
        log,
        signal: new AbortController().signal,
      }),
    ).rejects.toThrow(/20260102000000_broken/);
  });
});

describeWith(pgbouncer, 'a schema behind PgBouncer in transaction mode', () => {
  let pooler: PgBouncer<'shop'>;

  beforeEach(async () => {
    pooler = await startPgBouncer({ databases: { shop: database.url } });
  });
  afterEach(async () => {
    // Settings of a role remain after its database is dropped.
    await asOwner(`alter role current_user in database ${database.name} reset all`);
    await life.stop();
    await pooler.stop();
  });

  const openBehind = (schema?: ServiceSchema) =>
    open({ url: pooler.databases.shop, directUrl: database.url }, schema);

  it('has its search path, time zone and timeouts on every server connection', async () => {
    const { pool } = await openBehind();
    const seen = await Promise.all(
      Array.from({ length: 4 }, async () => {
        const client = await pool.connect();
        try {
          await beginIdleTransaction(client);
          const { rows } = await client.query(`
            select pg_backend_pid() as pid, current_schema, current_setting('TimeZone') as zone,
                   current_setting('statement_timeout') as timeout, current_setting('jit') as jit, count(*) from things`);
          // The server connection is reserved until the transaction ends.
          await new Promise((resolve) => setTimeout(resolve, 20));
          await client.query('commit');
          return rows[0];
        } finally {
          client.release();
        }
      }),
    );
    expect(new Set(seen.map(({ pid }) => pid)).size).toBeGreaterThan(1);
    for (const row of seen) {
      expect(row).toMatchObject({
        current_schema: 'shop',
        zone: 'UTC',
        timeout: '30s',
        jit: 'off',
        count: 0n,
      });
    }
  });

  it('runs the same named statement concurrently over shared server connections', async () => {
    const { pool } = await openBehind();
    const statement = { name: 'shop.add', text: 'insert into things values ($1) returning id' };
    const ids = Array.from({ length: 60 }, (_, index) => index);
    const added = await Promise.all(ids.map((id) => pool.query({ ...statement, values: [id] })));
    expect(added.flatMap(({ rows }) => rows.map(({ id }) => id)).sort((a, b) => a - b)).toEqual(ids);
  });

  it('has direct sessions, which receive notifications and hold locks', async () => {
    const { pool, sessions } = await openBehind();
    const listener = await sessions.connect();
    const received = new Promise((resolve) =>
      listener.once('notification', ({ payload }) => resolve(payload)),
    );
    await listener.query('listen news');
    await listener.query('select pg_advisory_lock(1)');
    await pool.query(`select pg_notify('news', 'one')`);
    expect(await received).toBe('one');
    const { rows } = await pool.query<{ got: boolean }>('select pg_try_advisory_xact_lock(1) as got');
    expect(rows).toEqual([{ got: false }]);
    listener.release(true);
  });

  it('that needs sessions bypasses the pooler', async () => {
    const { pool, sessions } = await openBehind({ ...SHOP, holdsSessions: true });
    expect(pool).toBe(sessions);
    const { rows } = await pool.query<{ port: number }>('select inet_server_port() as port');
    expect(rows[0]?.port).toBe(Number(new URL(database.url).port));
  });

  it('is refused to a role that is configured for another schema', async () => {
    await openBehind();
    await expect(openBehind({ ...SHOP, schema: 'other' })).rejects.toThrow();
    expect(failures).toEqual([
      "the database (schema other): the role of schema other has the search path 'shop': " +
        'behind a pooler, each domain needs its own role or its own database',
    ]);
  });
});
