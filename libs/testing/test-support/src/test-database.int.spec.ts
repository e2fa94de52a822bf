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
  it('gives each caller an empty database of its own', async () => {
    const [first, second] = await Promise.all([createTestDatabase(), createTestDatabase()]);
    await query(first.url, 'create table only_here (id int)');
    const tables = `select relname from pg_class where relname = 'only_here'`;
    expect(await query(first.url, tables)).toHaveLength(1);
    expect(await query(second.url, tables)).toHaveLength(0);
    await Promise.all([first.drop(), second.drop()]);
    await expect(query(first.url, 'select 1')).rejects.toThrow(/does not exist/);
  });

  it('sorts text by its bytes whatever the environment of the run', async () => {
    const database = await createTestDatabase();
    const rows = await query<{ t: string }>(
      database.url,
      `select t from (values ('a'), ('B'), ('ä')) v(t) order by t`,
    );
    expect(rows.map(({ t }) => t)).toEqual(['B', 'a', 'ä']);
    await database.drop();
  });

  it('drops a database that somebody is still connected to', async () => {
    const database = await createTestDatabase();
    const straggler = new Client({ connectionString: database.url });
    straggler.on('error', () => undefined);
    await straggler.connect();
    await database.drop();
    await expect(query(database.url, 'select 1')).rejects.toThrow(/does not exist/);
    await straggler.end().catch(() => undefined);
  });
});
