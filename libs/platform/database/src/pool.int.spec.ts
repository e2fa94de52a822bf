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

it('sets the search path, UTC as its time zone, and no JIT compilation', async () => {
  const { rows } = await pool.query(`
    select current_schema as schema, current_setting('TimeZone') as zone, current_setting('jit') as jit`);
  expect(rows).toEqual([{ schema: 'public', zone: 'UTC', jit: 'off' }]);
});

describe('a lost connection', () => {
  it('between two statements does not end the process, and the next statement fails', async () => {
    const client = await pool.connect();
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    // Without a listener, this event would be thrown.
    const ended = new Promise((resolve) => client.once('end', resolve));
    await pool.query('select pg_terminate_backend($1)', [rows[0]?.pid]);
    await ended;
    await expect(client.query('select 1')).rejects.toThrow();
    client.release(true);
    await expect(pool.query('select 1 as one')).resolves.toMatchObject({ rows: [{ one: 1 }] });
  });
});
