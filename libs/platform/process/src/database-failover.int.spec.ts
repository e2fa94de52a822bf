import { chownSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createAuthority, issueCertificate } from '@gateway/certificates';
import {
  createDatabaseClock,
  createPool,
  isTransientDatabaseError,
  type DatabasePool,
} from '@gateway/database';
import { startPostgresPrimary, startPostgresStandby, type PostgresNode } from '@gateway/dev-infra';
import { createLifecycle, type Lifecycle } from '@gateway/module';
import { createMetrics, createSilentLogger, systemClock, type Registry } from '@gateway/runtime';
import { eventually } from '@gateway/test-support';
import { openSchema, type OpenSchema } from './open-schema';

jest.setTimeout(120_000);

const log = createSilentLogger();
const CREATE = { name: '20260101000000_create', sql: 'create table things (id bigserial primary key);' };
const SHOP = { schema: 'shop', migrations: [CREATE], functions: {}, maxConnections: 4 };
const INSERT = 'insert into things default values returning id';
/** Short, so that the tests are fast. */
const QUERY_TIMEOUT_MS = 2_000;
/** So long that the monitor, or the end of the pool, comes first. */
const LONG_QUERY_TIMEOUT_MS = 600_000;

let primary: PostgresNode;
let standby: PostgresNode;
let life: Lifecycle;
let metrics: Registry;

beforeEach(async () => {
  life = createLifecycle({ log });
  metrics = createMetrics({ processMetrics: false });
  primary = await startPostgresPrimary();
  standby = await startPostgresStandby(primary, 'standby');
});
afterEach(async () => {
  await life.stop();
  await Promise.all([primary.stop(), standby.stop()]);
});

/** The URL of both servers, as libpq writes it. */
const urlOf = (first: PostgresNode, second: PostgresNode): string =>
  first
    .urlOf('postgres')
    .replace(`127.0.0.1:${first.port}`, `127.0.0.1:${first.port},127.0.0.1:${second.port}`) +
  '?target_session_attrs=read-write';

const open = (url: string, queryTimeoutMs = QUERY_TIMEOUT_MS): Promise<OpenSchema> =>
  openSchema(SHOP, {
    config: { DATABASE_URL: url, GATEWAY_DATABASE_QUERY_TIMEOUT_MS: queryTimeoutMs },
    log,
    metrics,
    life,
    awaitDependency: (_what, attempt) => attempt(),
  });

const poolOf = (url: string, queryTimeoutMs = QUERY_TIMEOUT_MS): DatabasePool => {
  const pool = createPool({
    url,
    schema: 'public',
    applicationName: 'test',
    maxConnections: 4,
    queryTimeoutMs,
  });
  life.onStop(() => pool.end());
  return pool;
};

const portOf = async (pool: DatabasePool): Promise<number> =>
  (await pool.query<{ port: number }>('select inet_server_port() as port')).rows[0]?.port ?? 0;

const connectionsTo = (server: PostgresNode): Promise<{ name: string }[]> =>
  server.query(
    `select application_name as name from pg_stat_activity where application_name like 'gateway%'`,
  );

const state = (schema: OpenSchema, isAvailable: boolean) =>
  eventually(`the database is ${isAvailable ? '' : 'not '}available`, async () =>
    (await schema.isAvailable()) === isAvailable ? true : undefined,
  );

const written = (schema: OpenSchema) =>
  eventually(
    'a write',
    () =>
      schema.pool.query(INSERT).then(
        () => true,
        (error: unknown) => {
          if (!isTransientDatabaseError(error)) throw error;
          return undefined;
        },
      ),
    { timeoutMs: 60_000 },
  );

/** Opens as many connections as the pool may have, and leaves them idle. */
async function fill(pool: DatabasePool, count: number): Promise<number[]> {
  const rows = await Promise.all(
    Array.from({ length: count }, () =>
      pool.query<{ pid: number }>('select pg_backend_pid() as pid, pg_sleep(0.05)'),
    ),
  );
  return rows.map((result) => result.rows[0]?.pid ?? 0);
}

describe('with several hosts', () => {
  it('every connection goes to the writable server, in whatever place of the list', async () => {
    expect(await portOf(poolOf(urlOf(primary, standby)))).toBe(primary.port);
    expect(await portOf(poolOf(urlOf(standby, primary)))).toBe(primary.port);
  });

  it('a host that does not respond is passed over', async () => {
    const unfreeze = standby.freeze();
    expect(await portOf(poolOf(urlOf(standby, primary)))).toBe(primary.port);
    unfreeze();
  });

  it('without a writable server, connections fail as transient', async () => {
    await primary.shutDown();
    const failure = await poolOf(urlOf(primary, standby))
      .query('select 1')
      .catch((error: unknown) => error);
    expect(isTransientDatabaseError(failure)).toBe(true);
  });

  it('after a crash of the primary, everything continues on the promoted standby', async () => {
    const schema = await open(urlOf(primary, standby));
    await written(schema);
    await primary.kill();
    await state(schema, false);
    await standby.promote();
    await written(schema);
    await state(schema, true);
    expect(await portOf(schema.pool as DatabasePool)).toBe(standby.port);
  });

  it('a silent primary is left for the promoted standby', async () => {
    const schema = await open(urlOf(primary, standby), LONG_QUERY_TIMEOUT_MS);
    await fill(schema.pool as DatabasePool, SHOP.maxConnections);
    primary.freeze();
    await standby.promote();
    await written(schema);
    await state(schema, true);
    expect(await portOf(schema.pool as DatabasePool)).toBe(standby.port);
  });
});

describe('after a switchover', () => {
  it('no connection stays on the demoted server, not even an idle one', async () => {
    const schema = await open(urlOf(primary, standby));
    await fill(schema.pool as DatabasePool, SHOP.maxConnections);
    expect((await connectionsTo(primary)).length).toBeGreaterThanOrEqual(SHOP.maxConnections);
    await demote(primary);
    await eventually('no connection to the demoted server', async () =>
      (await connectionsTo(primary)).length === 0 ? true : undefined,
    );
    await standby.promote();
    await state(schema, true);
    await written(schema);
    expect(await connectionsTo(primary)).toEqual([]);
  });

  it('a pool alone leaves the demoted server at its first failed write', async () => {
    const pool = poolOf(primary.urlOf('postgres'));
    await fill(pool, 4);
    await demote(primary);
    // A session that has not read the new setting yet still writes.
    await eventually('a failed write', () =>
      pool.query('drop table if exists shop').then(
        () => undefined,
        ({ message }: Error) => /read-only/.test(message) || undefined,
      ),
    );
    await eventually('no connection', async () => (pool.totalCount === 0 ? true : undefined));
  });

  it('a single host is available again when it accepts writes', async () => {
    const schema = await open(primary.urlOf('postgres'));
    await state(schema, true);
    await demote(primary);
    await state(schema, false);
    await primary.query('alter system reset default_transaction_read_only');
    await primary.query('select pg_reload_conf()');
    await state(schema, true);
    await written(schema);
  });
});

/** It continues to run and serves reads. */
async function demote(server: PostgresNode): Promise<void> {
  await server.query(`alter system set default_transaction_read_only = on`);
  await server.query('select pg_reload_conf()');
}

describe('with one synchronous standby that stops', () => {
  beforeEach(async () => {
    await primary.query(`alter system set synchronous_standby_names = 'ANY 1 (standby)'`);
    await primary.query('select pg_reload_conf()');
  });

  it('writes fail as transient, the database is not available, and both recover with the standby', async () => {
    const schema = await open(primary.urlOf('postgres'));
    await written(schema);
    await standby.kill();
    const failure = await schema.pool.query(INSERT).catch((error: unknown) => error);
    expect(isTransientDatabaseError(failure)).toBe(true);
    await state(schema, false);
    expect(await metrics.metrics()).toContain('gateway_database_available{schema="shop"} 0');
    // A commit that waits for a standby is not repeated on further connections.
    await eventually('several checks', async () => {
      const rows = await primary.query(
        `select from pg_stat_activity where application_name = 'gateway monitor' and wait_event = 'SyncRep'
           and query_start < now() - interval '5 seconds'`,
      );
      return rows.length === 1 ? true : undefined;
    });
    await standby.start();
    await state(schema, true);
    await written(schema);
    expect(await metrics.metrics()).toContain('gateway_database_available{schema="shop"} 1');
  });
});

describe('with a server that does not respond', () => {
  it('a pool whose connections are all dead serves again with new ones', async () => {
    const pool = poolOf(primary.urlOf('postgres'));
    const pids = await fill(pool, 4);
    // The sessions are frozen; the server accepts new ones.
    for (const pid of pids) process.kill(pid, 'SIGSTOP');
    const failures = await Promise.all(
      pids.map(() => pool.query('select 1').catch((error: unknown) => error)),
    );
    expect(failures.map(isTransientDatabaseError)).toEqual([true, true, true, true]);
    await expect(pool.query('select 1 as one')).resolves.toMatchObject({ rows: [{ one: 1 }] });
    for (const pid of pids) process.kill(pid, 'SIGCONT');
  });

  it('connections with TLS close without its response', async () => {
    await useTls(primary);
    const pool = poolOf(`${primary.urlOf('postgres')}?sslmode=no-verify`, LONG_QUERY_TIMEOUT_MS);
    const { rows } = await pool.query('select ssl from pg_stat_ssl where pid = pg_backend_pid()');
    expect(rows).toEqual([{ ssl: true }]);
    const inFlight = pool.query('select pg_sleep(600)').catch((error: unknown) => error);
    primary.freeze();
    pool.dropConnections('the test closes them');
    expect(isTransientDatabaseError(await inFlight)).toBe(true);
    await eventually('no connection', async () => (pool.totalCount === 0 ? true : undefined));
  });

  it('a measurement of its clock ends, so that a stop does not wait for it', async () => {
    const pool = poolOf(primary.urlOf('postgres'), LONG_QUERY_TIMEOUT_MS);
    const clock = createDatabaseClock({ pool, schema: 'public', clock: systemClock, metrics, log });
    await clock.start();
    primary.freeze();
    await expect(clock.start()).resolves.toBeUndefined();
    await clock.stop();
  });

  it('stops with statements in flight and connections idle', async () => {
    const schema = await open(primary.urlOf('postgres'), LONG_QUERY_TIMEOUT_MS);
    await fill(schema.pool as DatabasePool, SHOP.maxConnections);
    const inFlight = schema.pool.query('select pg_sleep(600)').catch((error: unknown) => error);
    await eventually('the statement runs', async () => {
      const rows = await primary.query(`select from pg_stat_activity where wait_event = 'PgSleep'`);
      return rows.length === 1 ? true : undefined;
    });
    primary.freeze();
    await life.stop();
    expect(isTransientDatabaseError(await inFlight)).toBe(true);
    expect(schema.pool.ended).toBe(true);
  });
});

async function useTls(server: PostgresNode): Promise<void> {
  const issued = await issueCertificate(await createAuthority(), { dnsNames: ['localhost'], validDays: 1 });
  const { uid, gid } = statSync(server.dataDirectory);
  for (const [name, text] of [
    ['server.crt', issued.certificate],
    ['server.key', issued.privateKey],
  ] as const) {
    const file = path.join(server.dataDirectory, name);
    writeFileSync(file, text, { mode: 0o600 });
    chownSync(file, uid, gid);
  }
  await server.query('alter system set ssl = on');
  await server.query('select pg_reload_conf()');
  await eventually('TLS', async () => {
    const [row] = await server.query<{ ssl: string }>('show ssl');
    return row?.ssl === 'on' ? true : undefined;
  });
}
