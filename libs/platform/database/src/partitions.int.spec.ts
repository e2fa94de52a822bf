import { DAY_MS } from '@gateway/base';
import { beginPatiently, createTestDatabase, type TestDatabase } from '@gateway/test-support';
import type { Pool } from 'pg';
import { dropPartitions, listPartitions, makePartitions, type PartitionedTable } from './partitions';
import { createPool } from './pool';

const at = (text: string) => Date.parse(`${text}Z`);
const days: PartitionedTable = {
  schema: 'public',
  table: 'log',
  key: 'at',
  period: 'day',
  leastKeyAt: (unixMs) => new Date(unixMs).toISOString(),
};
const months: PartitionedTable = { ...days, period: 'month' };

let database: TestDatabase;
let pool: Pool;

beforeEach(async () => {
  database = await createTestDatabase();
  pool = createPool({ url: database.url, schema: 'public', applicationName: 'test', maxConnections: 4 });
  await pool.query('create table log (at timestamptz not null, what text not null) partition by range (at)');
  await pool.query('create index log_by_time on log (at)');
  await pool.query('create table log_default partition of log default');
});

afterEach(async () => {
  await pool.end();
  await database.drop();
});

const names = async () => (await listPartitions(pool, days)).map(({ name }) => name);
const make = (table: PartitionedTable, now: string, ahead: number) =>
  makePartitions(pool, table, { nowUnixMs: at(now), ahead });
const write = (time: string) => pool.query(`insert into log values ($1, 'x')`, [`${time}Z`]);

async function placeOf(time: string): Promise<string | undefined> {
  const { rows } = await pool.query<{ place: string }>(
    'select tableoid::regclass::text as place from log where at = $1',
    [`${time}Z`],
  );
  return rows[0]?.place;
}

it('makes the present period and those ahead, each with the indexes of the table, and once', async () => {
  expect(await make(days, '2026-12-30T13:00', 2)).toBe(3);
  expect(await names()).toEqual(['log_until_20261231', 'log_until_20270101', 'log_until_20270102']);
  expect(await make(days, '2026-12-30T23:59', 2)).toBe(0);
  expect(await make(days, '2026-12-31T00:00', 2)).toBe(1);
  await write('2026-12-30T00:00');
  await write('2026-12-30T23:59:59.999');
  await write('2026-12-31T00:00');
  expect(await placeOf('2026-12-30T00:00')).toBe('log_until_20261231');
  expect(await placeOf('2026-12-30T23:59:59.999')).toBe('log_until_20261231');
  expect(await placeOf('2026-12-31T00:00')).toBe('log_until_20270101');
  const { rowCount } = await pool.query(`select from pg_indexes where tablename = 'log_until_20261231'`);
  expect(rowCount).toBe(1);
});

it('makes months, over the end of a year and from the 31st on', async () => {
  expect(await make(months, '2026-12-31T12:00', 2)).toBe(3);
  expect(await names()).toEqual(['log_until_20270101', 'log_until_20270201', 'log_until_20270301']);
});

it('spans a rest with one partition, so that there is no gap', async () => {
  await make(days, '2026-01-01T12:00', 0);
  await make(days, '2026-01-20T12:00', 0);
  expect(await names()).toEqual(['log_until_20260102', 'log_until_20260121']);
  await write('2026-01-10T00:00');
  expect(await placeOf('2026-01-10T00:00')).toBe('log_until_20260121');
});

it('goes on from a partition that ends within a period', async () => {
  await make(days, '2026-01-10T12:00', 0);
  await make(months, '2026-01-10T12:00', 0);
  expect(await names()).toEqual(['log_until_20260111', 'log_until_20260201']);
});

it('moves what the default partition has taken, and leaves there what belongs to none', async () => {
  await write('2026-01-10T01:00');
  await write('2031-01-01T00:00');
  await make(days, '2026-01-10T12:00', 1);
  expect(await placeOf('2026-01-10T01:00')).toBe('log_until_20260111');
  expect(await placeOf('2031-01-01T00:00')).toBe('log_default');
});

it('drops what ends by then, oldest first, unless it may not go', async () => {
  await make(days, '2026-01-10T12:00', 3);
  const asked: string[] = [];
  const dropped = await dropPartitions(pool, days, {
    untilUnixMs: at('2026-01-13T00:00'),
    mayDrop: async (_client, { name }) => {
      asked.push(name);
      return name !== 'log_until_20260112';
    },
  });
  expect(dropped).toBe(2);
  expect(asked).toEqual(['log_until_20260111', 'log_until_20260112', 'log_until_20260113']);
  expect(await names()).toEqual(['log_until_20260112', 'log_until_20260114']);
});

it('keeps the partition when what is to be written down with its end fails', async () => {
  await make(days, '2026-01-10T12:00', 0);
  const dropping = dropPartitions(pool, days, {
    untilUnixMs: at('2026-02-01T00:00'),
    mayDrop: () => Promise.reject(new Error('cannot be written down')),
  });
  await expect(dropping).rejects.toThrow('cannot be written down');
  expect(await names()).toHaveLength(1);
});

/** Somebody with a lock for as long as `work` takes. */
async function whileLocked(lock: string, work: () => Promise<void>): Promise<void> {
  const other = await pool.connect();
  try {
    await beginPatiently(other);
    await other.query(lock);
    await work();
    await other.query('commit');
  } finally {
    other.release(true);
  }
}

describe('beside a long reader of the table', () => {
  const READ = 'select from log';
  const FEBRUARY = { untilUnixMs: at('2026-02-01T00:00') };

  it('stops at the first partition that it cannot drop, after a few tries, and drops them all the next time', async () => {
    await make(days, '2026-01-10T12:00', 3);
    const asked: string[] = [];
    const mayDrop = async (_client: unknown, { name }: { readonly name: string }) => asked.push(name) > 0;
    await whileLocked(READ, async () => {
      expect(await dropPartitions(pool, days, { ...FEBRUARY, mayDrop })).toBe(0);
      expect(asked).toEqual(Array.from({ length: 5 }, () => 'log_until_20260111'));
    });
    expect(await dropPartitions(pool, days, FEBRUARY)).toBe(4);
  });

  it('lets those who write pass, also while it waits for the reader', async () => {
    await make(days, '2026-01-10T12:00', 3);
    const oneMore = await pool.connect();
    // Whoever stands in the queue for longer fails; the reader itself never ends before they are through.
    await oneMore.query(`set lock_timeout = '20s'`);
    try {
      await whileLocked(READ, async () => {
        let isDropping = true;
        const dropping = dropPartitions(pool, days, FEBRUARY).finally(() => (isDropping = false));
        let written = 0;
        while (isDropping) {
          await oneMore.query(`insert into log values ('2026-01-13T12:00Z', 'x')`);
          written += 1;
        }
        expect(await dropping).toBe(0);
        expect(written).toBeGreaterThan(0);
      });
    } finally {
      oneMore.release(true);
    }
  });

  it('makes none and says so, and all of them once the reader has gone', async () => {
    await make(days, '2026-01-10T12:00', 0);
    await whileLocked(READ, async () => {
      await expect(make(days, '2026-01-11T12:00', 0)).rejects.toMatchObject({ code: '55P03' });
    });
    expect(await make(days, '2026-01-11T12:00', 0)).toBe(1);
  });

  it('makes and drops when the reader goes between two tries', async () => {
    await make(days, '2026-01-10T12:00', 0);
    let dropping: Promise<number> | undefined;
    let readerLeft = () => {};
    const readerHasLeft = new Promise<void>((resolve) => (readerLeft = resolve));
    await whileLocked(READ, async () => {
      let tries = 0;
      await new Promise<void>((secondTry) => {
        const mayDrop = async () => {
          tries += 1;
          if (tries === 2) {
            secondTry();
            await readerHasLeft;
          }
          return true;
        };
        dropping = dropPartitions(pool, days, { ...FEBRUARY, mayDrop });
      });
    });
    readerLeft();
    expect(await dropping).toBe(1);
  });
});

it('passes over a partition that a vacuum is at', async () => {
  await make(days, '2026-01-10T12:00', 2);
  await whileLocked('lock table log_until_20260112 in share update exclusive mode', async () => {
    expect(await dropPartitions(pool, days, { untilUnixMs: at('2026-01-13T00:00') })).toBe(2);
    expect(await names()).toEqual(['log_until_20260112']);
  });
});

it('is made and dropped by any number of processes at once', async () => {
  const tries = Array.from({ length: 4 }, () => make(days, '2026-01-10T12:00', 5));
  const made = await Promise.all(tries);
  expect(made.reduce((total, count) => total + count)).toBe(6);
  const untilUnixMs = at('2026-01-10T12:00') + 3 * DAY_MS;
  const dropped = await Promise.all(
    Array.from({ length: 4 }, () => dropPartitions(pool, days, { untilUnixMs })),
  );
  expect(dropped.reduce((total, count) => total + count)).toBe(3);
});
