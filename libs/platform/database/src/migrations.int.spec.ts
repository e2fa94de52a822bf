import { createHash } from 'node:crypto';
import { inspect } from 'node:util';
import { createTestDatabase, type TestDatabase } from '@gateway/test-support';
import type { Pool } from 'pg';
import { applyMigrations, type Migration } from './migrations';
import { createPool } from './pool';

const CREATE: Migration = { name: '20260101000000_create', sql: 'create table things (id int primary key);' };
const ADD: Migration = {
  name: '20260102000000_add',
  sql: 'alter table things add column name text;\ninsert into things values (1, $$a;b$$);',
};

let database: TestDatabase;
let pool: Pool;

beforeEach(async () => {
  database = await createTestDatabase();
  pool = createPool({ url: database.url, schema: 'shop', applicationName: 'test', maxConnections: 4 });
});

afterEach(async () => {
  await pool.end();
  await database.drop();
});

const migrate = (...migrations: Migration[]) =>
  applyMigrations(pool, { schema: 'shop', migrations, functions: {} });

async function rowsOf<Row extends object>(sql: string): Promise<Row[]> {
  return (await pool.query<Row>(sql)).rows;
}

describe('applyMigrations', () => {
  it('creates the schema and applies each migration once, in order', async () => {
    await migrate(CREATE);
    await migrate(CREATE, ADD);
    await migrate(CREATE, ADD);
    expect(await rowsOf('select * from shop.things')).toEqual([{ id: 1, name: 'a;b' }]);
  });

  it('writes the history in the format of Prisma: name, SHA-256 of the text, finished, one step', async () => {
    await migrate(CREATE);
    const [row] = await rowsOf<Record<string, unknown>>('select * from shop."_prisma_migrations"');
    expect(row).toMatchObject({
      migration_name: CREATE.name,
      checksum: createHash('sha256').update(CREATE.sql).digest('hex'),
      applied_steps_count: 1,
      rolled_back_at: null,
      logs: null,
    });
    expect(row?.['finished_at']).toBeInstanceOf(Date);
  });

  it('refuses a migration that was edited after it was applied, and changes nothing', async () => {
    await migrate(CREATE);
    const edited = { ...CREATE, sql: `${CREATE.sql} -- edited` };
    await expect(migrate(edited, ADD)).rejects.toThrow(
      /schema shop .* another build: .*20260101000000_create was edited .* Use an empty database/,
    );
    expect(await rowsOf('select * from shop."_prisma_migrations"')).toHaveLength(1);
  });

  it('rolls back a failed migration', async () => {
    const broken = { name: '20260103000000_broken', sql: 'create table half (id int); select 1/0;' };
    await expect(migrate(CREATE, broken)).rejects.toThrow(/20260103000000_broken .* division by zero/);
    expect(await rowsOf(`select to_regclass('shop.half') as half`)).toEqual([{ half: null }]);
    await migrate(CREATE, { ...broken, sql: 'create table half (id int);' });
  });

  it('applies everything exactly once when processes start concurrently', async () => {
    await Promise.all(Array.from({ length: 4 }, () => migrate(CREATE, ADD)));
    expect(await rowsOf('select * from shop.things')).toHaveLength(1);
    expect(await rowsOf('select * from shop."_prisma_migrations"')).toHaveLength(2);
  });

  it('ignores applied migrations of a newer version', async () => {
    await migrate(CREATE, ADD);
    await migrate(CREATE);
    expect(await rowsOf('select * from shop."_prisma_migrations"')).toHaveLength(2);
  });

  it('refuses a migration that another tool started and did not finish', async () => {
    await migrate(CREATE);
    await pool.query(`update shop."_prisma_migrations" set finished_at = null`);
    await expect(migrate(CREATE)).rejects.toThrow(/started by another tool/);
  });

  it('refuses a list that is out of order', async () => {
    await expect(migrate(ADD, CREATE)).rejects.toThrow(/out of order/);
  });

  it('has a separate history for each schema', async () => {
    await migrate(CREATE);
    await applyMigrations(pool, {
      schema: 'other',
      migrations: [{ ...CREATE, sql: 'select 1;' }],
      functions: {},
    });
    expect(await rowsOf(`select to_regclass('other.things') as things`)).toEqual([{ things: null }]);
  });
});

describe('a schema from before the baseline', () => {
  const OLD: Migration = { name: '20251231000000_first', sql: 'create table things (id int primary key);' };

  it('is refused and left unchanged', async () => {
    await migrate(OLD);
    await expect(migrate(CREATE, ADD)).rejects.toThrow(
      /schema shop .* created by a version before 0\.1\.0 .*20251231000000_first.* Use an empty database/,
    );
    expect(await rowsOf('select migration_name as name from shop."_prisma_migrations"')).toEqual([
      { name: OLD.name },
    ]);
    expect(await rowsOf('select * from shop.things')).toEqual([]);
  });

  it('is refused if it has tables and no migrations', async () => {
    await pool.query('create schema shop; create table shop.goods ()');
    await expect(migrate(CREATE)).rejects.toThrow(/before 0\.1\.0 .*goods and no migrations/);
    expect(await rowsOf(`select to_regclass('shop."_prisma_migrations"') as history`)).toEqual([
      { history: null },
    ]);
  });
});

describe('the functions of a schema', () => {
  const ONE = 'create or replace function price() returns int language sql as $$ select 1 $$;';
  const TWO = ONE.replace('select 1', 'select 2');
  const TAX = 'create or replace function tax() returns int language sql as $$ select price() + 1 $$;';

  const apply = (functions: Record<string, string>, migrations = [CREATE]) =>
    applyMigrations(pool, { schema: 'shop', migrations, functions });
  const price = async () => (await rowsOf<{ price: number }>('select price()'))[0]?.price;
  const names = async () =>
    (
      await rowsOf<{ name: string }>(
        `select proname as name from pg_proc where pronamespace = 'shop'::regnamespace order by 1`,
      )
    ).map(({ name }) => name);

  it('are replaced when their text changes, and only then', async () => {
    const version = async () => (await rowsOf<object>(`select xmin from pg_proc where proname = 'price'`))[0];
    await apply({ price: ONE });
    const first = await version();
    await apply({ price: ONE });
    expect(await version()).toEqual(first);
    await apply({ price: TWO });
    expect(await price()).toBe(2);
    await apply({ price: ONE });
    expect(await price()).toBe(1);
  });

  it('are dropped when their text is removed', async () => {
    await apply({ price: ONE, tax: TAX });
    await apply({ price: ONE });
    expect(await names()).toEqual(['price']);
  });

  it('remain those of a newer version when an older one starts next to it', async () => {
    await apply({ price: ONE });
    await apply({ price: TWO, tax: TAX }, [CREATE, ADD]);
    await apply({ price: ONE });
    expect([await price(), await names()]).toEqual([2, ['price', 'tax']]);
  });

  it('are applied once by concurrent processes, while others call them', async () => {
    await apply({ price: ONE });
    let replacing = true;
    const calls = (async () => {
      while (replacing) expect([1, 2]).toContain(await price());
    })();
    await Promise.all(Array.from({ length: 3 }, () => apply({ price: TWO })));
    replacing = false;
    await calls;
    expect(await price()).toBe(2);
  });

  it.each([
    ['other arguments', ONE.replace('price()', 'price(quantity int)'), /function price .*not unique/],
    ['another result', ONE.replace('returns int', 'returns text'), /function price .*return type/],
    ['an error', 'create or replace function price(', /function price .*syntax error/],
  ])('are all unchanged if one has %s', async (_, changed, message) => {
    await apply({ price: ONE });
    await expect(apply({ another: ONE.replace('price', 'another'), price: changed })).rejects.toThrow(
      message,
    );
    expect([await price(), await names()]).toEqual([1, ['price']]);
  });
});

describe('createPool', () => {
  it('resolves unqualified names in the schema and returns int8 as bigint', async () => {
    await migrate(CREATE);
    const [row] = await rowsOf<Record<string, unknown>>(
      `select 9007199254740993::int8 as big, '{1,null,-2}'::int8[] as bigs, '{}'::int8[] as none,
              current_schema() as schema, (select count(*) from things) as things`,
    );
    expect(row).toEqual({
      big: 9007199254740993n,
      bigs: [1n, null, -2n],
      none: [],
      schema: 'shop',
      things: 0n,
    });
  });

  it('survives the loss of idle connections, and logs none of their secrets', async () => {
    const lost: unknown[] = [];
    const watched = createPool({
      url: database.url,
      schema: 'shop',
      applicationName: 'watched',
      maxConnections: 2,
      log: { warn: (fields: unknown) => lost.push(fields) },
    });
    await watched.query('select 1');
    const noticed = new Promise((resolve) => watched.once('remove', resolve));
    await pool.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'watched'`,
    );
    await noticed;
    expect(lost).toHaveLength(1);
    expect(inspect(lost, { depth: null })).not.toMatch(/secretKey|password/);
    await expect(watched.query('select 1 as one')).resolves.toMatchObject({ rows: [{ one: 1 }] });
    await watched.end();
  });

  it('rejects a schema name that requires quoting', () => {
    const options = { url: database.url, applicationName: 'test', maxConnections: 1 };
    expect(() => createPool({ ...options, schema: 'a; drop' })).toThrow(/not a valid schema name/);
  });
});
