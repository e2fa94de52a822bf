import { Client } from 'pg';
import { createTestDatabase } from './test-database';

async function query<Row extends object>(url: string, sql: string): Promise<Row[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Row>(sql)).rows;
  } finally {
    await client.end();
  }
}

describe('createTestDatabase', () => {
  it('creates a separate empty database for each caller', async () => {
    const [first, second] = await Promise.all([createTestDatabase(), createTestDatabase()]);
    await query(first.url, 'create table only_here (id int)');
    const tables = `select relname from pg_class where relname = 'only_here'`;
    expect(await query(first.url, tables)).toHaveLength(1);
    expect(await query(second.url, tables)).toHaveLength(0);
    await Promise.all([first.drop(), second.drop()]);
    await expect(query(first.url, 'select 1')).rejects.toThrow(/does not exist/);
  });

  it('sorts text by its bytes, independent of the locale', async () => {
    const database = await createTestDatabase();
    const rows = await query<{ t: string }>(
      database.url,
      `select t from (values ('a'), ('B'), ('ä')) v(t) order by t`,
    );
    expect(rows.map(({ t }) => t)).toEqual(['B', 'a', 'ä']);
    await database.drop();
  });

  it('drops a database that still has connections', async () => {
    const database = await createTestDatabase();
    const connected = new Client({ connectionString: database.url });
    connected.on('error', () => undefined);
    await connected.connect();
    await database.drop();
    await expect(query(database.url, 'select 1')).rejects.toThrow(/does not exist/);
    await connected.end().catch(() => undefined);
  });
});
