import { createTestDatabase, eventually, type TestDatabase } from '@gateway/test-support';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { Client, type Pool, type PoolClient } from 'pg';
import { createPool } from './pool';
import { inOneRoundTrip, inTransaction, inTwoRoundTrips } from './transaction';
import { isTransientDatabaseError } from './transient-error';

let database: TestDatabase;
let pool: Pool;

beforeAll(async () => {
  database = await createTestDatabase();
  pool = createPool({ url: database.url, schema: 'public', applicationName: 'test', maxConnections: 4 });
  await pool.query('create table counters (id int primary key, value int8 not null)');
});

beforeEach(() => pool.query('truncate counters; insert into counters values (1, 0), (2, 0)'));

afterAll(async () => {
  await pool.end();
  await database.drop();
});

const values = async () =>
  (await pool.query<{ value: bigint }>('select value from counters order by id')).rows.map(
    (row) => row.value,
  );

async function failureOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (error: unknown) => error,
  );
}

describe('inTransaction', () => {
  it('commits the work and returns its result', async () => {
    const result = await inTransaction(pool, async (client) => {
      await client.query('update counters set value = 5 where id = 1');
      return 'done';
    });
    expect(result).toBe('done');
    expect(await values()).toEqual([5n, 0n]);
  });

  it('rolls everything back when the work rejects', async () => {
    const work = inTransaction(pool, async (client) => {
      await client.query('update counters set value = 5');
      throw new Error('changed my mind');
    });
    await expect(work).rejects.toThrow('changed my mind');
    expect(await values()).toEqual([0n, 0n]);
  });

  it('retries the victim of a deadlock', async () => {
    let attempts = 0;
    let arrived = 0;
    let release: () => void = () => undefined;
    const bothHoldOne = new Promise<void>((resolve) => (release = resolve));
    const increment = (first: number, second: number) =>
      inTransaction(pool, async (client) => {
        attempts += 1;
        await client.query('update counters set value = value + 1 where id = $1', [first]);
        arrived += 1;
        if (arrived === 2) release();
        await bothHoldOne;
        await client.query('update counters set value = value + 1 where id = $1', [second]);
      });
    await Promise.all([increment(1, 2), increment(2, 1)]);
    expect(await values()).toEqual([2n, 2n]);
    // The retry may lock its first row before the other transaction wakes up, and be a victim again.
    expect(attempts).toBeGreaterThanOrEqual(3);
  });

  it('rejects after the maximum number of conflicts', async () => {
    let attempts = 0;
    const conflict = Object.assign(new Error('could not serialize access'), { code: '40001' });
    const work = inTransaction(
      pool,
      async () => {
        attempts += 1;
        throw conflict;
      },
      { maxAttempts: 3 },
    );
    await expect(work).rejects.toBe(conflict);
    expect(attempts).toBe(3);
  });

  it('rejects if the work swallowed a database error', async () => {
    const work = inTransaction(pool, async (client) => {
      await client.query('update counters set value = 9');
      await client.query('select 1/0').catch(() => undefined);
    });
    await expect(work).rejects.toThrow(/rolled back/);
    expect(await values()).toEqual([0n, 0n]);
  });

  it('rejects as transient when the connection is killed, and the pool stays usable', async () => {
    const work = inTransaction(pool, async (client) => {
      const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
      await pool.query('select pg_terminate_backend($1)', [rows[0]?.pid]);
      await client.query('select 1');
    });
    expect(isTransientDatabaseError(await failureOf(work))).toBe(true);
    expect(await values()).toEqual([0n, 0n]);
  });
});

describe('inOneRoundTrip', () => {
  const add = (id: number, by: number) => ({
    text: 'update counters set value = value + $2 where id = $1',
    values: [id, by],
  });

  it('commits all statements', async () => {
    await inOneRoundTrip(pool, (client) => [client.query(add(1, 5)), client.query(add(2, 7))]);
    expect(await values()).toEqual([5n, 7n]);
  });

  it.each([0, 1, 2])('rolls back if statement %i fails, and rejects with its error', async (failing) => {
    const statements = [add(1, 5), add(2, 7)];
    statements.splice(failing, 0, { text: 'select $1::int / $2::int', values: [1, 0] });
    const work = inOneRoundTrip(pool, (client) => statements.map((statement) => client.query(statement)));
    await expect(work).rejects.toThrow('division by zero');
    expect(await values()).toEqual([0n, 0n]);
    await inOneRoundTrip(pool, (client) => [client.query(add(1, 1))]);
    expect(await values()).toEqual([1n, 0n]);
  });

  it('sends all statements and the commit before the first result', async () => {
    const holder = await pool.connect();
    // A connection that ends must not be given to a later test.
    const removed = once(pool, 'remove');
    await holder.query('begin');
    await holder.query(add(1, 1));
    const work = inOneRoundTrip(pool, (client) => {
      const sent = [client.query(add(1, 5)), client.query(add(2, 7))];
      // Ends the socket after everything is written. A statement that waited for a result would never be sent.
      setImmediate(() => socketOf(client).end());
      return sent;
    });
    void work.catch(() => undefined);
    await eventually('a transaction that waits for the row', async () => {
      const { rowCount } = await pool.query(
        "select from pg_stat_activity where wait_event = 'transactionid'",
      );
      return rowCount === 1 ? true : undefined;
    });
    await holder.query('commit');
    holder.release();
    await removed;
    await eventually('both', async () => ((await values()).join() === '6,7' ? true : undefined));
  });

  it('rejects as transient when the connection is killed, and the pool stays usable', async () => {
    const work = inOneRoundTrip(pool, (client) => [
      client.query(add(1, 5)),
      client.query('select pg_terminate_backend(pg_backend_pid())'),
    ]);
    expect(isTransientDatabaseError(await failureOf(work))).toBe(true);
    expect(await values()).toEqual([0n, 0n]);
  });
});

describe('inTwoRoundTrips', () => {
  const read = async (client: PoolClient) =>
    (await client.query<{ value: bigint }>('select value from counters where id = 1 for update')).rows[0]
      ?.value ?? 0n;
  const set = (client: PoolClient, id: number, value: bigint) =>
    client.query('update counters set value = $2 where id = $1', [id, value]);

  it('writes the decision on the read rows, and returns its result', async () => {
    const increment = () =>
      inTwoRoundTrips(pool, read, (value) => ({
        result: value + 1n,
        write: (client) => [set(client, 1, value + 1n), set(client, 2, value)],
      }));
    const results = await Promise.all([increment(), increment(), increment()]);
    expect(results.sort()).toEqual([1n, 2n, 3n]);
    expect(await values()).toEqual([3n, 2n]);
  });

  it('writes nothing when the decision throws', async () => {
    const work = inTwoRoundTrips(pool, read, () => {
      throw new Error('changed my mind');
    });
    await expect(work).rejects.toThrow('changed my mind');
    // The row is not locked any longer.
    await inOneRoundTrip(pool, (client) => [set(client, 1, 4n)]);
    expect(await values()).toEqual([4n, 0n]);
  });

  it('rolls back if any statement fails', async () => {
    const nonsense = (client: PoolClient) => client.query('select 1/0');
    const early = inTwoRoundTrips(pool, nonsense, () => ({ result: 'decided', write: () => [] }));
    await expect(early).rejects.toThrow('division by zero');
    const late = inTwoRoundTrips(pool, read, () => ({
      result: 'decided',
      write: (client) => [set(client, 1, 9n), nonsense(client)],
    }));
    await expect(late).rejects.toThrow('division by zero');
    expect(await values()).toEqual([0n, 0n]);
  });
});

function socketOf(client: PoolClient): Socket {
  return (client as unknown as { readonly connection: { readonly stream: Socket } }).connection.stream;
}

describe('isTransientDatabaseError', () => {
  it('is true for a refused connection', async () => {
    const client = new Client({ host: '127.0.0.1', port: 1 });
    expect(isTransientDatabaseError(await failureOf(client.connect()))).toBe(true);
  });

  it('is false for a violated constraint and an invalid statement', async () => {
    const duplicate = await failureOf(pool.query('insert into counters values (1, 1)'));
    const nonsense = await failureOf(pool.query('selec 1'));
    expect([duplicate, nonsense].map(isTransientDatabaseError)).toEqual([false, false]);
  });

  it('checks the causes of an error', () => {
    const cause = Object.assign(new Error('deadlock detected'), { code: '40P01' });
    expect(isTransientDatabaseError(new Error('query failed', { cause }))).toBe(true);
  });

  it.each([undefined, null, 'text', 7, new Error('other')])('is false for %p', (value) => {
    expect(isTransientDatabaseError(value)).toBe(false);
  });
});
