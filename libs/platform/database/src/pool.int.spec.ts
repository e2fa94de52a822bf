import { createTestDatabase, type TestDatabase } from '@gateway/test-support';
import type { Pool } from 'pg';
import { createPool } from './pool';

let database: TestDatabase;
let pool: Pool;

beforeAll(async () => {
  database = await createTestDatabase();
  pool = createPool({ url: database.url, schema: 'public', applicationName: 'test', maxConnections: 4 });
});

afterAll(async () => {
  await pool.end();
  await database.drop();
});

it('looks names up in its schema, tells times in UTC, and has no statement compiled', async () => {
  const { rows } = await pool.query(`
    select current_schema as schema, current_setting('TimeZone') as zone, current_setting('jit') as jit`);
  expect(rows).toEqual([{ schema: 'public', zone: 'UTC', jit: 'off' }]);
});

describe('a connection that is lost', () => {
  it('between two statements of its holder does not end the process, and the next one is refused', async () => {
    const client = await pool.connect();
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    // Were nobody listening, this event would be thrown.
    const ended = new Promise((resolve) => client.once('end', resolve));
    await pool.query('select pg_terminate_backend($1)', [rows[0]?.pid]);
    await ended;
    await expect(client.query('select 1')).rejects.toThrow();
    client.release(true);
    await expect(pool.query('select 1 as one')).resolves.toMatchObject({ rows: [{ one: 1 }] });
  });
});
